/// The body of a push.
///
/// It holds only what has a meaning for its push type: APNs or the device would silently drop the rest. Source of all payloads:
/// "Generating a remote notification" (Apple), unless they name another.
package enum PushPayload: Equatable, Sendable {
  /// What a visible push says. Indirect, because each target's push has a copy.
  indirect case alert(AlertPayload)
  /// Data that wakes the app without showing anything. A member `badge` of null becomes the recipient's. APNs takes it at priority 5
  /// only, and delivers two or three an hour. Source: "Pushing background updates to your App" (Apple).
  case background(PayloadObject)
  case liveActivity(LiveActivityPayload)

  package var pushType: PushType {
    switch self {
    case .alert: .alert
    case .background: .background
    case .liveActivity: .liveactivity
    }
  }

  /// The JSON document for APNs: UTF-8, no spaces, keys always in the same order.
  /// - Parameters:
  ///   - badge: the number on the app's icon; nil leaves it as it is.
  ///   - logID: the id of the ledger's row, a UUID's text; read for an alert alone.
  /// - Throws: `customKeyReserved` for background data with a member named `aps`.
  package func encoded(badge: Int?, logID: @autoclosure () -> String) throws(PushRequestError) -> [UInt8] {
    switch self {
    case .alert(let alert): return alert.encoded(badge: badge, logID: logID())
    case .background(var custom):
      if custom["badge"] == .null { custom["badge"] = badge.map { .integer(Int64($0)) } }
      let data = try custom.asCustomData()
      return JSONBytes.document(reservingBytes: 256) { json in
        json.append(member: "aps") { $0.append(member: "content-available", flag: true) }
        json.append(membersOf: data)
      }
    case .liveActivity(let payload): return payload.encoded()
    }
  }
}

extension PayloadObject {
  /// The object as custom data beside `aps`.
  /// - Throws: `customKeyReserved` when it has a member named `aps`, which would replace Apple's.
  func asCustomData() throws(PushRequestError) -> PayloadObject {
    guard self["aps"] == nil else { throw PushRequestError(.customKeyReserved, "the key aps belongs to Apple") }
    return self
  }
}

/// What a visible push says, the data it brings to the app, and its document for APNs.
///
/// The recipients of one event differ in badge and log id only. So the rest is escaped once, and a room of thousands costs a few copies
/// each. The document has as much of the body as APNs takes; channels with other limits shorten the whole one. Priority, expiration, topic and the collapse identifier are header fields. They have no place here, because APNs silently
/// ignores them inside `aps`. An empty text is left out like a nil one.
package struct AlertPayload: Equatable, Sendable {
  package let title: AlertText?
  package let subtitle: AlertText?
  package private(set) var body: AlertText?
  /// A sound file of the app, or ``defaultSound``; nil is silent.
  package let sound: String?
  /// What the system groups by, such as a conversation.
  package let threadIdentifier: String?
  /// The registered category that brings the action buttons.
  package let category: String?
  /// How much the push may interrupt; nil is as ``InterruptionLevel/active``.
  package let interruptionLevel: InterruptionLevel?
  /// The place among the app's pushes in a summary, where the highest is featured.
  package let relevanceScore: UnitFraction?
  /// Whether the app's service extension may change the push before it is shown: `mutable-content`.
  package let runsServiceExtension: Bool
  /// The app's own data, beside `aps`.
  package let custom: PayloadObject

  private var document = AlertDocument.empty
  /// Whether the document has the whole body.
  private(set) var isWhole = true

  /// The system's own sound.
  package static let defaultSound = "default"

  /// - Throws: `nothingToShow` without any text and sound, and for a service extension without a text, which it needs;
  ///   `customKeyReserved` when `custom` has a member named `aps`; `payloadTooLarge` when APNs takes it with no body.
  package init(
    title: AlertText? = nil, subtitle: AlertText? = nil, body: AlertText? = nil, sound: String? = nil,
    threadIdentifier: String? = nil, category: String? = nil,
    interruptionLevel: InterruptionLevel? = nil, relevanceScore: UnitFraction? = nil,
    runsServiceExtension: Bool = false, custom: PayloadObject = [:]
  ) throws(PushRequestError) {
    self.title = title?.unlessEmpty
    self.subtitle = subtitle?.unlessEmpty
    self.body = body?.unlessEmpty
    self.sound = sound?.isEmpty == true ? nil : sound
    self.threadIdentifier = threadIdentifier
    self.category = category
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.runsServiceExtension = runsServiceExtension
    self.custom = try custom.asCustomData()
    guard isNoticed else {
      throw PushRequestError(.nothingToShow, "a text is missing, or at least a sound")
    }
    document = AlertDocument(self)
    guard document.bytesMax > PushType.bodyBytesMax else { return }
    document = AlertDocument(try fitted(to: PushType.bodyBytesMax))
    isWhole = false
  }

  var hasText: Bool { title != nil || subtitle != nil || body != nil }

  /// Whether a device does everything that the push asks for.
  var isNoticed: Bool {
    if hasText { return true }
    return sound != nil && !runsServiceExtension
  }

  /// The bytes of the document with the largest badge.
  var documentBytesMax: Int { document.bytesMax }

  /// The whole document for one recipient.
  /// - Parameters:
  ///   - badge: a negative one is sent as 0; nil leaves the app's icon as it is.
  ///   - logID: the text of a UUID, by which the app reports that the push was opened.
  package func encoded(badge: Int?, logID: String) -> [UInt8] { document.encoded(badge: badge, logID: logID) }
}

/// A text of an alert: the words, or a key of the app's translations, which Apple documents as given instead of the words.
package enum AlertText: Equatable, Sendable {
  case verbatim(String)
  /// A key of the app's translations, and the arguments for the `%@` of its text, in order. The words are shown where there are
  /// no such translations: in browsers.
  case localized(key: String, arguments: [String] = [], words: String = "")

  /// Whether there is nothing to show: no words, or no key.
  var isEmpty: Bool {
    switch self {
    case .verbatim(let words): words.isEmpty
    case .localized(let key, _, _): key.isEmpty
    }
  }

  /// The text without the app's translations.
  package var words: String {
    switch self {
    case .verbatim(let words), .localized(_, _, let words): words
    }
  }

  var unlessEmpty: AlertText? { isEmpty ? nil : self }
}

extension AlertText: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self = .verbatim(value) }
}

/// How much a push may interrupt: the value of `interruption-level`.
package enum InterruptionLevel: String, CaseIterable, Sendable {
  /// Goes to the list without light or sound.
  case passive
  /// Lights the screen and may play a sound; what a push without a level does.
  case active
  /// As active, and breaks through Focus and the scheduled summary.
  case timeSensitive = "time-sensitive"
  /// Breaks through the mute switch too; only for apps with Apple's permission.
  case critical
}

/// A number from 0 to 1, both included: a volume or a relevance.
package struct UnitFraction: Equatable, Sendable {
  package let value: Double

  /// Takes a number from 0 to 1.
  /// - Throws: `fractionOutOfRange`, also for NaN.
  package init(_ value: Double) throws(PushRequestError) {
    guard (0...1).contains(value) else { throw PushRequestError(.fractionOutOfRange, "\(value) is not within 0...1") }
    self.value = value
  }

}

extension AlertPayload {
  /// Room for a usual message push; a longer one grows the array once or twice.
  static let usualBytes = 512

  /// The document up to the place of the badge.
  fileprivate func appendHead(to json: inout JSONBytes) {
    json.append(literal: #"{"aps":{"#)
    guard hasText else { return }
    json.append(member: "alert") { json in
      json.append(title, named: "title", key: "title-loc-key", arguments: "title-loc-args")
      json.append(subtitle, named: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
      json.append(body, named: "body", key: "loc-key", arguments: "loc-args")
    }
  }

  /// The rest, up to the log id.
  fileprivate func appendTail(to json: inout JSONBytes) {
    json.append(member: "sound", text: sound)
    json.append(member: "thread-id", text: threadIdentifier)
    json.append(member: "category", text: category)
    json.append(member: "interruption-level", text: interruptionLevel?.rawValue)
    json.append(member: "relevance-score", number: relevanceScore?.value)
    json.append(member: "mutable-content", flag: runsServiceExtension)
    json.append(literal: "}")
    json.append(membersOf: custom)
  }
}

extension JSONBytes {
  /// The number on an icon; APNs documents no negative ones.
  fileprivate mutating func append(badge: Int) {
    append(integer: Int64(max(0, badge)))
  }

  fileprivate mutating func append(
    _ text: AlertText?, named name: StaticString, key keyName: StaticString, arguments argumentsName: StaticString
  ) {
    switch text {
    case .verbatim(let words): append(member: name, text: words)
    case .localized(let key, let arguments, _):
      append(member: keyName, text: key)
      append(member: argumentsName, texts: arguments)
    case nil: break
    }
  }
}

extension AlertPayload {
  /// The payload with as much of its body as a byte limit leaves room for.
  ///
  /// Cuts the body, or the longest argument of a localised one, between grapheme clusters and appends `...`. Everything else
  /// stays: the app relies on its data, the title names the sender, and the text behind a key is unknown here. The limit
  /// bounds the cost, except for one encoding of the whole and one cluster that is larger than the limit.
  /// - Parameter bytesMax: the largest document with the largest badge, in bytes.
  /// - Throws: `payloadTooLarge` when the document would not fit without that text, or would have nothing to show.
  func fitted(to bytesMax: Int) throws(PushRequestError) -> AlertPayload {
    let bytes = AlertDocument(self).bytesMax
    guard bytes > bytesMax else { return self }
    guard let text = body?.trimmable else {
      throw PushRequestError(.payloadTooLarge, "\(bytes) bytes and no text to shorten; \(bytesMax) are allowed")
    }
    guard let payload = shortened(text, to: bytesMax) ?? emptied(text, to: bytesMax) else {
      throw PushRequestError(
        .payloadTooLarge, "more than the \(bytesMax) bytes that are allowed, even without its text")
    }
    return payload
  }

  /// With the beginning of the text, possibly empty, and the continuation.
  private func shortened(_ text: TrimmableText, to bytesMax: Int) -> AlertPayload? {
    guard let rest = replacingBody(text.body(TrimmableText.continuation)) else { return nil }
    let room = bytesMax - AlertDocument(rest).bytesMax
    guard room >= 0 else { return nil }
    return replacingBody(text.body(text.beginning(encodedBytesMax: room) + TrimmableText.continuation))
  }

  private func emptied(_ text: TrimmableText, to bytesMax: Int) -> AlertPayload? {
    replacingBody(text.body("")).flatMap { AlertDocument($0).bytesMax <= bytesMax ? $0 : nil }
  }

  /// The same with another body; nil when the device would then ignore the push.
  private func replacingBody(_ body: AlertText) -> AlertPayload? {
    var payload = self
    payload.body = body.unlessEmpty
    return payload.isNoticed ? payload : nil
  }
}

/// The part of a body that may be shortened: words, or an argument of a localised text.
private struct TrimmableText {
  static let continuation = "..."

  let text: String
  /// The whole body with another text in this place.
  let body: (String) -> AlertText

  /// The longest beginning of whole grapheme clusters that takes at most so many bytes inside a JSON string.
  func beginning(encodedBytesMax: Int) -> String {
    text.beginning(bytesMax: encodedBytesMax, width: JSONEscape.width)
  }
}

extension AlertText {
  /// The words, or the longest argument, the first of equally long ones; nil for a key alone.
  fileprivate var trimmable: TrimmableText? {
    switch self {
    case .verbatim(let words):
      return TrimmableText(text: words, body: AlertText.verbatim)
    case .localized(let key, let arguments, let words):
      let longest = arguments.indices.max { arguments[$0].utf8.count < arguments[$1].utf8.count }
      guard let longest else { return nil }
      return TrimmableText(text: arguments[longest]) { text in
        var arguments = arguments
        arguments[longest] = text
        return .localized(key: key, arguments: arguments, words: words)
      }
    }
  }
}

/// An alert's document, encoded except for badge and log id.
struct AlertDocument: Equatable, Sendable {
  /// The bytes of a log id: those of a UUID's text.
  private static let logIDBytes = 36
  /// The digits of the largest integer.
  private static let digitsMax = 19

  static let empty = AlertDocument()

  /// The document with a badge of 0 and an empty log id.
  private var bytes: [UInt8] = []
  /// The place of that badge's digit.
  private var badgeIndex = 0
  /// The whole member of the badge, with its comma.
  private var badgeMember = 0..<0
  private var logIDIndex = 0

  private init() {}

  init(_ payload: AlertPayload) {
    var json = JSONBytes(reservingBytes: AlertPayload.usualBytes)
    payload.appendHead(to: &json)
    let memberIndex = json.bytes.count
    json.append(name: "badge")
    badgeIndex = json.bytes.count
    json.append(literal: "0")
    payload.appendTail(to: &json)
    let comma = UInt8(ascii: ",")
    let endsInComma = json.bytes[memberIndex] != comma && json.bytes[badgeIndex + 1] == comma
    badgeMember = memberIndex..<(badgeIndex + (endsInComma ? 2 : 1))
    json.append(name: "push_log_id")
    json.append(literal: "\"\"}")
    bytes = json.bytes
    logIDIndex = bytes.count - 2
  }

  /// The bytes with a log id and the largest badge.
  var bytesMax: Int { bytes.count - 1 + Self.digitsMax + Self.logIDBytes }

  func encoded(badge: Int?, logID: String) -> [UInt8] {
    precondition(logID.utf8.count == Self.logIDBytes, "the room that was left is that of a UUID")
    var json = JSONBytes(reservingBytes: bytesMax)
    let restIndex = badge == nil ? badgeMember.upperBound : badgeIndex + 1
    if let badge {
      json.append(rawBytes: bytes[..<badgeIndex])
      json.append(badge: badge)
    } else {
      json.append(rawBytes: bytes[..<badgeMember.lowerBound])
    }
    json.append(rawBytes: bytes[restIndex..<logIDIndex])
    json.append(plain: logID)
    json.append(rawBytes: bytes[logIDIndex...])
    return json.bytes
  }
}
