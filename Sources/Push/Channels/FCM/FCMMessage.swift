internal import PushRules

/// A message to one Android device.
///
/// Source: the discovery document of FCM, `Message`, `AndroidConfig` and `AndroidNotification`.
package struct FCMMessage: Equatable, Sendable {
  /// Who shows the message.
  package enum Presentation: Sendable {
    /// The system shows it while the app is in the background. FCM may merge and delay such messages.
    case notification
    /// The app gets everything as data and shows it itself. The texts are under `title`, `body`, `image`, `tag`,
    /// `channel_id` and `notification_count`; a member of ``FCMMessage/data`` with one of these names is renamed.
    case dataOnly
  }

  package enum Priority: String, Sendable {
    /// May wait until a sleeping device wakes.
    case normal = "NORMAL"
    /// Wakes a sleeping device.
    case high = "HIGH"
  }

  /// The registration token, or a Firebase Installation ID, which FCM accepts in the same place.
  package var token: String

  package var presentation = Presentation.notification

  package var title: String?

  /// The text below. It is shortened when the message would be too large.
  package var body: String?

  /// The first line as a key of the app's string resources, in place of ``title``; nil for none.
  package var titleKey: Key?

  package var bodyKey: Key?

  /// A key of the app's string resources, with the values for the places in its text.
  package struct Key: Equatable, Sendable {
    package let name: String
    package let arguments: [String]

    package init(_ name: String, arguments: [String] = []) {
      self.name = name
      self.arguments = arguments
    }
  }

  /// An `https` URL of a picture, of at most 1 MB on Android.
  package var image: String?

  /// The app's own; no name is reserved.
  package var data: [String: String] = [:]

  package var priority = Priority.high

  /// How long FCM stores it for an offline device. Brought to `0...2419200` s, four weeks, and to whole seconds,
  /// rounded down. With zero it is delivered now or never.
  package var timeToLive = Duration.seconds(2_419_200)

  /// Of the messages with one key, an offline device gets the newest. FCM stores four keys for a device.
  package var collapseKey: String?

  /// A shown notification with the same tag is replaced. It makes a resend after an unknown outcome invisible, because
  /// FCM delivers it twice.
  package var tag: String?

  /// The notification channel of the app; nil for the one of its manifest.
  package var channelIdentifier: String?

  /// The number on the app's icon. Nil and numbers below 1 leave it out; Android then adds 1.
  package var badge: Int?

  package init(token: String) {
    self.token = token
  }
}

// Limits.
extension FCMMessage {
  /// The largest content that is sent, in bytes: names and texts in UTF-8, with the Android ones that Google may count.
  ///
  /// Google's limit is 4096, and some senders report refusals from 2440.
  package static let payloadBytesMax = 2000

  /// The longest token, in bytes. FCM's have about 160.
  private static let tokenBytesMax = 1024

  /// The size of names and texts, in bytes.
  package var payloadBytes: Int {
    let shown = presentation == .notification ? texts : []
    return shown.reduce(0) { $0 + $1.name.utf8CodeUnitCount + $1.text.utf8.count }
      + sentData.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + (collapseKey?.utf8.count ?? 0)
  }

  /// The message with as much of its body as the limit leaves room for.
  ///
  /// Cuts the body between grapheme clusters and appends `...`. Title and data stay.
  /// - Throws: ``FCMMessageError`` for a token or an image that FCM would refuse, for a notification without text, and
  ///   when the message is too large even without its body.
  package func fitted(to bytesMax: Int = payloadBytesMax) throws(FCMMessageError) -> FCMMessage {
    try check()
    let excess = payloadBytes - bytesMax
    guard excess > 0 else { return self }
    var message = self
    message.body = (body ?? "").shortened(byBytes: excess)
    guard message.payloadBytes <= bytesMax, message.hasText || presentation == .dataOnly else {
      throw FCMMessageError(.payloadTooLarge, "more than \(bytesMax) bytes, even without its body")
    }
    return message
  }

  private func check() throws(FCMMessageError) {
    guard 1...Self.tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw FCMMessageError(.invalidToken, "a token has 1 to \(Self.tokenBytesMax) visible ASCII characters")
    }
    guard hasText || presentation == .dataOnly else {
      throw FCMMessageError(.nothingToShow, "a notification has a title or a body")
    }
    if let image, !image.isEmpty, !image.hasPrefix("https://") || EndpointURL(image) == nil {
      throw FCMMessageError(.invalidImage, "an image is an https URL")
    }
  }

  private var hasText: Bool {
    titleKey != nil || bodyKey != nil || !(title ?? "").isEmpty || !(body ?? "").isEmpty
  }
}

extension FCMMessage {
  private static let secondsMax: Int64 = 2_419_200

  /// The content of a request: UTF-8, no spaces, members in a fixed order.
  /// - Parameter isTrial: whether FCM only checks the message and delivers nothing.
  /// - Throws: as ``fitted(to:)``, which it calls.
  package func encoded(isTrial: Bool = false) throws(FCMMessageError) -> [UInt8] {
    let message = try fitted()
    return JSONBytes.document(reservingBytes: 1024) { json in
      if isTrial {
        json.append(name: "validate_only")
        json.append(literal: "true")
      }
      json.append(member: "message") { message.append(to: &$0) }
    }
  }

  private func append(to json: inout JSONBytes) {
    json.append(member: "token", text: token)
    let common = texts.prefix { $0.isCommon }
    if presentation == .notification, !common.isEmpty {
      json.append(member: "notification") { Self.append(common, to: &$0) }
    }
    let data = sentData
    if !data.isEmpty { json.append(member: "data") { Self.append(data, to: &$0) } }
    json.append(member: "android") { json in
      json.append(member: "priority", text: priority.rawValue)
      json.append(member: "ttl", text: "\(min(max(timeToLive.components.seconds, 0), Self.secondsMax))s")
      json.append(member: "collapse_key", text: collapseKey)
      let own = texts.drop { $0.isCommon }
      guard presentation == .notification, !own.isEmpty else { return }
      json.append(member: "notification") { Self.append(own, to: &$0) }
    }
  }

  private static func append(_ texts: ArraySlice<ShownText>, to json: inout JSONBytes) {
    for shown in texts {
      if let list = shown.list {
        json.append(member: shown.name, texts: list)
      } else if shown.isNumber {
        json.append(member: shown.name, integer: Int64(shown.text))
      } else {
        json.append(member: shown.name, text: shown.text)
      }
    }
  }

  /// In the order of the names, so that equal data gives equal bytes.
  private static func append(_ data: [String: String], to json: inout JSONBytes) {
    for (name, text) in data.sorted(by: { $0.key < $1.key }) {
      json.appendComma()
      json.append(string: name)
      json.append(literal: ":")
      json.append(string: text)
    }
  }

  /// What is shown and how, without empty texts: first the members of `notification`, then those of
  /// `android.notification`.
  var texts: [ShownText] {
    let count = badge.flatMap { $0 > 0 ? "\(min($0, Int(Int32.max)))" : nil }
    // A device that gets words takes no key. Data has both, because the app chooses.
    let isData = presentation == .dataOnly
    let all = [
      ShownText(name: "title", text: titleKey == nil || isData ? title ?? "" : "", isCommon: true),
      ShownText(name: "body", text: bodyKey == nil || isData ? body ?? "" : "", isCommon: true),
      ShownText(name: "image", text: image ?? "", isCommon: true), ShownText(name: "tag", text: tag ?? ""),
      ShownText(name: "title_loc_key", text: titleKey?.name ?? ""),
      ShownText(name: "title_loc_args", list: titleKey?.arguments ?? []),
      ShownText(name: "body_loc_key", text: bodyKey?.name ?? ""),
      ShownText(name: "body_loc_args", list: bodyKey?.arguments ?? []),
      ShownText(name: "channel_id", text: channelIdentifier ?? ""),
      ShownText(name: "notification_count", text: count ?? "", isNumber: true),
    ]
    return all.filter { !$0.text.isEmpty }
  }

  /// The data as sent; of a data-only message with the texts.
  var sentData: [String: String] {
    guard presentation == .dataOnly else { return data }
    return FCMData.renaming(data, occupied: Self.textNames).merging(texts.map { ("\($0.name)", $0.text) }) { $1 }
  }

  private static let textNames: Set<String> = [
    "title", "body", "image", "tag", "channel_id", "notification_count", "title_loc_key", "title_loc_args",
    "body_loc_key", "body_loc_args",
  ]
}

struct ShownText {
  let name: StaticString
  let text: String
  /// Whether it is a member of `notification`; otherwise only of `android.notification`.
  var isCommon = false
  var isNumber = false
  /// The texts of a list, which ``text`` has as JSON; nil for a single one.
  var list: [String]?

  init(name: StaticString, text: String, isCommon: Bool = false, isNumber: Bool = false) {
    self.name = name
    self.text = text
    self.isCommon = isCommon
    self.isNumber = isNumber
  }

  init(name: StaticString, list: [String]) {
    let document = JSONBytes.document(reservingBytes: 64) { $0.append(member: "", texts: list) }
    self.init(name: name, text: list.isEmpty ? "" : String(decoding: document.dropFirst(4).dropLast(), as: UTF8.self))
    self.list = list
  }
}

/// Names of the app's own data in a message, which Google restricts.
///
/// Reserved are the empty name, `from`, `message_type`, and names that begin with `google.` or `gcm.notification`.
/// Source: the discovery document of FCM, `Message.data`.
enum FCMData {
  /// What a renamed member begins with.
  private static let prefix = "app."

  /// Writes ``prefix`` before reserved names, as often as it takes to make a name that is free.
  /// - Parameter occupied: further names that the message itself uses.
  static func renaming(_ members: [String: String], occupied: Set<String> = []) -> [String: String] {
    func isFree(_ key: String) -> Bool { !isReserved(key) && !occupied.contains(key) }
    var renamed = members.filter { isFree($0.key) }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) where !isFree(key) {
      var key = prefix + key
      while renamed[key] != nil || !isFree(key) { key = prefix + key }
      renamed[key] = value
    }
    return renamed
  }

  private static func isReserved(_ key: String) -> Bool {
    key.isEmpty || key == "from" || key == "message_type" || key.hasPrefix("google.")
      || key.hasPrefix("gcm.notification")
  }
}

package struct FCMMessageError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The token is empty, too long, or not visible ASCII.
    case invalidToken = "invalid_token"
    /// A notification has neither a title nor a body.
    case nothingToShow = "nothing_to_show"
    /// The image is not an `https` URL.
    case invalidImage = "invalid_image"
    /// It is too large even without its body.
    case payloadTooLarge = "payload_too_large"
  }

  package let code: Code

  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
