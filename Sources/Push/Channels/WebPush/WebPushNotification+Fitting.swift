internal import PushRules

extension WebPushNotification {
  private static let continuation = "..."

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
      notification[keyPath: member] = Self.shortened(notification[keyPath: member], byBytes: excess)
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

  /// The longest beginning and the continuation that together take so many bytes less in the document; empty when even the
  /// continuation alone does not.
  private static func shortened(_ text: String, byBytes excess: Int) -> String {
    let width = text.utf8.reduce(0) { $0 + JSONEscape.width(of: $1) }
    let room = width - excess - continuation.utf8.count
    return room < 0 ? "" : text.beginning(bytesMax: room, width: JSONEscape.width) + continuation
  }
}
