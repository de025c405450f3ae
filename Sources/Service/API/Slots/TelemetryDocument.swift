internal import FoundationEssentials
internal import HTTP1
internal import PushRules
internal import PushStore

/// A batch of events as JSON. An event that cannot be used is rejected alone.
struct TelemetryDocument: Decodable {
  static let eventsMax = 100

  struct Rejection: Encodable, Equatable {
    /// The event's place, from 0.
    let index: Int
    /// The member that is wrong; nil for the whole event.
    let field: String?
  }

  let events: [SlotEvent]
  let rejections: [Rejection]

  private enum Key: String, CodingKey, CaseIterable {
    case events
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    try body.requireFew(.events, Self.eventsMax, "elements")
    let elements = try body.decode([TelemetryElement].self, forKey: .events)
    events = elements.compactMap { if case .event(let event) = $0 { event } else { nil } }
    rejections = elements.enumerated().compactMap { index, element in
      if case .rejected(let field) = element { Rejection(index: index, field: field) } else { nil }
    }
  }
}

/// An event, or the field for which it is rejected.
private enum TelemetryElement: Decodable {
  case event(SlotEvent)
  case rejected(field: String?)

  init(from decoder: any Decoder) throws {
    do {
      self = .event(try TelemetryEnvelope(from: decoder).event)
    } catch {
      let problem = (error as? ProblemDetails) ?? (error as? DecodingError).map { ProblemDetails($0) }
      guard case .string(let path)? = problem?.extensions.first(where: { $0.name == "field" })?.value else {
        throw error
      }
      let place = decoder.codingPath.fieldPath ?? ""
      self = .rejected(field: path == place ? nil : String(path.dropFirst(place.count + 1)))
    }
  }
}

private struct TelemetryEnvelope: Decodable {
  let event: SlotEvent

  private enum Key: String, CodingKey, CaseIterable {
    case id, code, slotId, identifier, whenMs, attempt, networkState, tzOffset, appState, timestamp
    case deviceToken = "device_token"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let id = UUID(hyphenated: try body.decode(String.self, forKey: .id))
    try body.require(id != nil, .id, "must be a UUID")
    let code = SlotEvent.Code(rawValue: try body.decode(String.self, forKey: .code))
    try body.require(code != nil, .code, "must be a known code")
    let slot = try body.decode(String.self, forKey: .slotId)
    try body.require(UserSlot.isSlot(slot), .slotId, SlotDocument.slotDemand)
    let identifier = try body.decodeIfPresent(String.self, forKey: .identifier)
    let row = identifier.flatMap(SlotIdentifier.init)
    try body.require(identifier == nil || row != nil, .identifier, "must be as ritual.0800.2026-11-22")
    let token = try body.decodeIfPresent(String.self, forKey: .deviceToken)
    let device = token.flatMap { try? DeviceToken($0) }
    try body.require(token == nil || device != nil, .deviceToken, "must be \(DeviceToken.demand)")
    var circumstances = try Self.circumstances(in: body)
    circumstances[Key.slotId.rawValue] = .string(slot)
    let time = try Self.timestamp(in: body)
    guard let id, let code else { preconditionFailure("what is required is there") }
    event = SlotEvent(
      id: id, code: code, row: row, deviceToken: device?.hexadecimal,
      circumstances: String(decoding: circumstances.encoded(), as: UTF8.self), happenedAt: ReportTime.clamped(time))
  }

  /// Of the year 3000.
  private static let millisecondsMax = 32_503_680_000_000

  /// What is kept beside the code and its time, under the names of the envelope.
  private static func circumstances(in body: KeyedDecodingContainer<Key>) throws -> PayloadObject {
    var told = PayloadObject()
    for (key, range) in [
      (Key.whenMs, 0...millisecondsMax), (.attempt, 0...Int(Int32.max)), (.tzOffset, -1440...1440),
    ] {
      // A number with a fraction is an error of the whole document to the decoder.
      let number = body.contains(key) ? try? body.decode(Int.self, forKey: key) : try body.decode(Int.self, forKey: key)
      try body.require(
        number.map(range.contains) == true, key,
        "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      told[key.rawValue] = number.map { .integer(Int64($0)) }
    }
    for (key, words) in [
      (Key.networkState, ["online", "offline", "unknown"]), (.appState, ["active", "background", "killed"]),
    ] {
      let word = try body.decode(String.self, forKey: key)
      try body.require(words.contains(word), key, "must be \(words.joined(separator: ", "))")
      told[key.rawValue] = .string(word)
    }
    return told
  }

  /// Microseconds since 1970, from text or from milliseconds since 1970.
  private static func timestamp(in body: KeyedDecodingContainer<Key>) throws -> Int64 {
    if let milliseconds = try? body.decode(Int.self, forKey: .timestamp) {
      try body.require((0...millisecondsMax).contains(milliseconds), .timestamp, "must be milliseconds since 1970")
      return Int64(milliseconds) * 1000
    }
    let instant = InstantText.microseconds(of: try body.decode(String.self, forKey: .timestamp))
    try body.require(instant != nil, .timestamp, "must be a time such as 2026-01-31T20:15:00Z, in this millennium")
    return instant ?? 0
  }
}

extension DeviceToken {
  static var demand: String { "2 to \(digitsMax) hexadecimal digits, an even number" }
}
