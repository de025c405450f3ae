/// The body of a push of one push type.
///
/// A payload holds only what has a meaning for its push type: APNs or the device would silently drop the rest. Source of all
/// payloads: "Generating a remote notification" (Apple), unless they name another.
package protocol PushPayload: Equatable, Sendable {
  var pushType: PushType { get }

  /// The JSON document as sent: UTF-8, no spaces, keys always in the same order.
  func encoded() -> [UInt8]
}

extension PayloadObject {
  /// The object as custom data beside `aps`.
  /// - Throws: `customKeyReserved` when it has a member named `aps`, which would replace Apple's.
  func asCustomData() throws(PushRequestError) -> PayloadObject {
    guard self["aps"] == nil else { throw PushRequestError(.customKeyReserved, "the key aps belongs to Apple") }
    return self
  }
}

/// A push that wakes the app without showing anything.
///
/// `aps` holds `content-available` alone; an ``AlertPayload`` can wake the app too. APNs takes it at priority 5 only, and
/// delivers two or three an hour. Source: "Pushing background updates to your App" (Apple).
package struct BackgroundPayload: PushPayload {
  package let custom: PayloadObject

  package var pushType: PushType { .background }

  /// - Throws: `customKeyReserved` when `custom` has a member named `aps`.
  package init(custom: PayloadObject = [:]) throws(PushRequestError) {
    self.custom = try custom.asCustomData()
  }

  package func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 256) { json in
      json.append(member: "aps") { $0.append(member: "content-available", flag: true) }
      json.append(membersOf: custom)
    }
  }
}

/// What a visible push says, and the data it brings to the app.
///
/// Priority, expiration, topic and the collapse identifier are header fields. They have no place here, because APNs silently
/// ignores them inside `aps`. An empty text is left out like a nil one.
package struct AlertPayload: PushPayload {
  package let title: AlertText?
  package let subtitle: AlertText?
  package internal(set) var body: AlertText?
  /// The number on the app's icon, absolute: 0 removes it, a negative one is sent as 0, nil leaves it as it is.
  package let badge: Int?
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

  package var pushType: PushType { .alert }

  /// The system's own sound.
  package static let defaultSound = "default"

  /// - Throws: `nothingToShow` without any text, badge and sound, and for a service extension without a text, which it
  ///   needs; `customKeyReserved` when `custom` has a member named `aps`.
  package init(
    title: AlertText? = nil, subtitle: AlertText? = nil, body: AlertText? = nil, badge: Int? = nil,
    sound: String? = nil, threadIdentifier: String? = nil, category: String? = nil,
    interruptionLevel: InterruptionLevel? = nil, relevanceScore: UnitFraction? = nil,
    runsServiceExtension: Bool = false, custom: PayloadObject = [:]
  ) throws(PushRequestError) {
    self.title = title?.unlessEmpty
    self.subtitle = subtitle?.unlessEmpty
    self.body = body?.unlessEmpty
    self.badge = badge
    self.sound = sound?.isEmpty == true ? nil : sound
    self.threadIdentifier = threadIdentifier
    self.category = category
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.runsServiceExtension = runsServiceExtension
    self.custom = try custom.asCustomData()
    guard isNoticed else {
      throw PushRequestError(.nothingToShow, "a text is missing, or at least a badge or a sound")
    }
  }

  var hasText: Bool { title != nil || subtitle != nil || body != nil }

  /// Whether a device does everything that the push asks for.
  var isNoticed: Bool {
    if hasText { return true }
    return (badge != nil || sound != nil) && !runsServiceExtension
  }
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

  package func encoded() -> [UInt8] {
    var json = JSONBytes(reservingBytes: Self.usualBytes)
    appendHead(to: &json)
    if let badge {
      json.append(name: "badge")
      json.append(badge: badge)
    }
    appendTail(to: &json)
    return json.bytes
  }

  /// The document up to the place of the badge.
  func appendHead(to json: inout JSONBytes) {
    json.append(literal: #"{"aps":{"#)
    guard hasText else { return }
    json.append(member: "alert") { json in
      json.append(title, named: "title", key: "title-loc-key", arguments: "title-loc-args")
      json.append(subtitle, named: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
      json.append(body, named: "body", key: "loc-key", arguments: "loc-args")
    }
  }

  func appendTail(to json: inout JSONBytes) {
    json.append(member: "sound", text: sound)
    json.append(member: "thread-id", text: threadIdentifier)
    json.append(member: "category", text: category)
    json.append(member: "interruption-level", text: interruptionLevel?.rawValue)
    json.append(member: "relevance-score", number: relevanceScore?.value)
    json.append(member: "mutable-content", flag: runsServiceExtension)
    json.append(literal: "}")
    json.append(membersOf: custom)
    json.append(literal: "}")
  }
}

extension JSONBytes {
  /// The number on an icon; APNs documents no negative ones.
  mutating func append(badge: Int) {
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
  /// - Parameter bytesMax: the largest document, in bytes; see ``PushType/bodyBytesMax``. With ``PreparedAlert``, fit
  ///   with the largest badge of all recipients.
  /// - Throws: `payloadTooLarge` when the document would not fit without that text, or would have nothing to show.
  package func fitted(to bytesMax: Int) throws(PushRequestError) -> AlertPayload {
    let bytes = encoded().count
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
    let room = bytesMax - rest.encoded().count
    guard room >= 0 else { return nil }
    return replacingBody(text.body(text.beginning(encodedBytesMax: room) + TrimmableText.continuation))
  }

  private func emptied(_ text: TrimmableText, to bytesMax: Int) -> AlertPayload? {
    replacingBody(text.body("")).flatMap { $0.encoded().count <= bytesMax ? $0 : nil }
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

/// An alert encoded except for its badge and an identifier: the only parts in which the recipients of one event differ.
///
/// The event is escaped once, and a room of thousands costs a few copies each.
package struct PreparedAlert: Equatable, Sendable {
  /// The bytes of an identifier: those of a UUID's text.
  package static let identifierBytes = 36

  /// The document with a badge of 0 and an empty identifier.
  private let document: [UInt8]
  /// The place of that badge's digit.
  private let badgeIndex: Int
  /// The whole member of the badge, with its comma.
  private let badgeMember: Range<Int>
  /// The place of the identifier; nil when it was prepared without one.
  private let identifierIndex: Int?

  /// Encodes what all recipients share, without the payload's own badge.
  /// - Parameter identifierName: the custom member for each recipient's identifier, a plain name that `custom` does not
  ///   have; nil for no identifier. Leave ``bytes(ofIdentifierNamed:)`` of room when fitting the payload.
  package init(_ payload: AlertPayload, identifierName: StaticString? = nil) {
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
    guard let identifierName else {
      identifierIndex = nil
      document = json.bytes
      return
    }
    var identified = JSONBytes(reservingBytes: json.bytes.count + identifierName.utf8CodeUnitCount + 6)
    identified.append(rawBytes: json.bytes.dropLast())
    identified.append(name: identifierName)
    identified.append(literal: "\"\"}")
    document = identified.bytes
    identifierIndex = document.count - 2
  }

  /// The bytes that the member of an identifier takes in the document.
  package static func bytes(ofIdentifierNamed name: StaticString) -> Int {
    name.utf8CodeUnitCount + identifierBytes + #","":"""#.utf8.count
  }

  /// The bytes of the document with a badge, and with an identifier if it has a place for one.
  package func bytes(withBadge badge: Int) -> Int {
    document.count - 1 + String(max(0, badge)).utf8.count + (identifierIndex == nil ? 0 : Self.identifierBytes)
  }

  /// The whole document for one recipient.
  /// - Parameters:
  ///   - badge: a negative one is sent as 0; nil leaves the app's icon as it is.
  ///   - identifier: the text of a UUID, if the alert was prepared for one.
  package func encoded(badge: Int?, identifier: String? = nil) -> [UInt8] {
    precondition(
      (identifier == nil) == (identifierIndex == nil), "an identifier, exactly where there is a place for it")
    var json = JSONBytes(reservingBytes: document.count + Self.digitsMax + Self.identifierBytes)
    let restIndex = badge == nil ? badgeMember.upperBound : badgeIndex + 1
    if let badge {
      json.append(rawBytes: document[..<badgeIndex])
      json.append(badge: badge)
    } else {
      json.append(rawBytes: document[..<badgeMember.lowerBound])
    }
    guard let identifierIndex, let identifier else {
      json.append(rawBytes: document[restIndex...])
      return json.bytes
    }
    precondition(identifier.utf8.count == Self.identifierBytes, "the room that was left is that of a UUID")
    json.append(rawBytes: document[restIndex..<identifierIndex])
    json.append(plain: identifier)
    json.append(rawBytes: document[identifierIndex...])
    return json.bytes
  }

  /// The digits of the largest integer.
  private static let digitsMax = 19
}
