package import PushRules

/// What a push to a browser shows, as one JSON document for old and new browsers.
///
/// Safari 18.4 and later read it without a worker, as a declarative message (W3C Push API, `web_push` 8030). In other browsers the
/// page's worker shows the same members. An empty text is left out like a nil one.
package struct WebPushNotification: Equatable, Sendable {
  /// The largest document, in bytes. Padded and encrypted it makes a body of 2663, which also passes Mozilla's bridge to
  /// Android: that takes 2744.
  package static let bytesMax = 2560

  package internal(set) var title: String
  /// The link that a click opens: an absolute `https` URL.
  package let link: String
  package internal(set) var body: String?
  /// Replaces a shown notification with the same tag.
  package let tag: String?
  /// The language of the texts, as a BCP 47 tag.
  package let language: String?
  /// The number on the app's icon: 0 removes it, nil leaves it as it is.
  package let badge: Int?
  /// The URL of a picture below the text.
  package let image: String?
  /// Shows without sound and vibration.
  package let isSilent: Bool
  /// Whether a notification that replaces another alerts again. Without a tag, and when silent, browsers refuse it, so it is
  /// left out.
  package let alertsAgain: Bool
  /// The app's own data, for the worker and the page.
  package let data: PayloadObject

  /// Puts a notification together; each parameter is the property of the same name.
  /// - Throws: `notificationIncomplete` without a title or a link, which declarative messages need.
  package init(
    title: String, link: String, body: String? = nil, tag: String? = nil, language: String? = nil, badge: Int? = nil,
    image: String? = nil, isSilent: Bool = false, alertsAgain: Bool = false,
    data: PayloadObject = [:]
  ) throws(WebPushError) {
    guard !title.isEmpty, !link.isEmpty else { throw WebPushError(.notificationIncomplete, "no title, or no link") }
    self.title = title
    self.link = link
    self.body = body
    self.tag = tag
    self.language = language
    self.badge = badge
    self.image = image
    self.isSilent = isSilent
    self.alertsAgain = alertsAgain
    self.data = data
  }

  /// The JSON document: UTF-8, no spaces, members always in the same order.
  package func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 512) { json in
      json.append(member: "web_push", integer: 8030)
      json.append(member: "notification") { append(to: &$0) }
    }
  }

  private func append(to json: inout JSONBytes) {
    json.append(member: "title", text: title)
    json.append(member: "navigate", text: link)
    json.append(member: "body", text: body)
    json.append(member: "tag", text: tag)
    json.append(member: "lang", text: language)
    json.append(member: "image", text: image)
    // Apple's examples write the number as a text.
    json.append(member: "app_badge", text: badge.map { "\(max(0, $0))" })
    if isSilent { json.append(trueMember: "silent") }
    if alertsAgain, !isSilent, tag?.isEmpty == false { json.append(trueMember: "renotify") }
    guard !data.members.isEmpty else { return }
    json.append(name: "data")
    json.append(object: data)
  }
}

extension JSONBytes {
  fileprivate mutating func append(trueMember name: StaticString) {
    append(name: name)
    append(literal: "true")
  }
}

extension WebPushNotification {
  /// The JSON document with as much of its text as the limit leaves room for.
  ///
  /// Cuts the body, and then the title, between grapheme clusters and appends `...`. Everything else stays, because the page
  /// relies on it. No text is searched further than the limit.
  /// - Throws: `payloadTooLarge` when the rest alone is too large.
  package func fitted(to bytesMax: Int = Self.bytesMax) throws(WebPushError) -> [UInt8] {
    let whole = encoded()
    guard whole.count > bytesMax else { return whole }
    var notification = self
    for member in [\Self.shownBody, \Self.title] {
      let excess = notification.encoded().count - bytesMax
      guard excess > 0 else { break }
      notification[keyPath: member] =
        notification[keyPath: member].shortened(byBytes: excess, width: JSONEscape.width) ?? ""
    }
    let document = notification.encoded()
    guard document.count <= bytesMax, !notification.title.isEmpty else {
      throw WebPushError(.payloadTooLarge, "more than \(bytesMax) bytes, even without its text")
    }
    return document
  }

  private var shownBody: String {
    get { body ?? "" }
    set { body = newValue }
  }
}
