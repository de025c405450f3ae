internal import Campaigns
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Postgres
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST /v1/actions` and `POST /v1/telemetry`: what users do with notifications, and what their devices do.
enum ReportRoutes {
  static func add(to group: inout RouteGroup) {
    group.addForClients(.post, "/v1/actions", hasContent: true, load: .write) { user, request, services, reactor in
      let report = try RequestContent.decode(ActionDocument.self, from: request.body).report
      let outcome = try await services.callers.report(report, of: user, on: reactor)
      services.activity.note(user, on: reactor)
      switch outcome {
      case .noted(let answer):
        await services.tellSlots(of: user, on: reactor)
        return HTTPServerResponse(json: Array(answer.utf8))
      case .repeated(let answer): return HTTPServerResponse(json: Array(answer.utf8))
      case .otherReport: throw ProblemDetails.unprocessable("id", "This id was used for another report.")
      case .tooMany: throw reportedEnough
      case .unknownRow: throw ProblemDetails.content("identifier", "The user has no notification of this identifier.")
      }
    }
    group.addForClients(.post, "/v1/telemetry", hasContent: true, load: .documentWrite) {
      user, request, services, reactor in
      let document: TelemetryDocument = try RequestContent.decode(from: request.body)
      let events = document.events
      guard let new = events.isEmpty ? [] : try await services.callers.report(events, of: user, on: reactor) else {
        throw reportedEnough
      }
      if new.contains(where: { $0.code == .opened }) { services.activity.note(user, on: reactor) }
      try await services.slots?.count(new, on: reactor)
      let rejected: [PayloadObject] = document.rejections.map {
        ["field": .text($0.field), "index": .count($0.index)]
      }
      return HTTPServerResponse([
        "accepted": .count(new.count), "duplicates": .count(events.count - new.count), "rejected": .list(rejected),
      ])
    }
  }

  /// Rows of reports go after the retention, a few each hour.
  private static let reportedEnough = ProblemDetails(
    .tooManyRequests, detail: "As many reports of the user are kept as may be.", fields: [.retryAfter: "3600"])
}

enum ReportTime {
  /// Reports older than that are refused: rows are not kept longer.
  static let ageMax: Int64 = 14 * 86_400 * 1_000_000
  /// How far a device's clock may be ahead.
  static let leadMax: Int64 = 60 * 1_000_000

  /// The nearest time that is neither to come nor too old.
  static func clamped(_ time: Int64, now: Int64 = TimeText.now) -> Int64 { min(max(time, now - ageMax), now) }
}

private struct ActionDocument: Decodable {
  let report: SlotActionReport

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("id", "action", "identifier", "at")
    let id = UUID(hyphenated: try body.decode(String.self, forKey: "id"))
    let action = try body.decode(String.self, forKey: "action")
    let row = SlotIdentifier(try body.decode(String.self, forKey: "identifier"))
    let at = InstantText.microseconds(of: try body.decode(String.self, forKey: "at"))
    try body.require(id != nil, "id", "must be a UUID")
    try body.require(Self.isAction(action), "action", "must be 1 to 64 letters, digits, _, - and .")
    try body.require(row != nil, "identifier", "must be as ritual.0800.2026-11-22")
    try body.require(at != nil, "at", "must be a time such as 2026-01-31T20:15:00Z, in this millennium")
    guard let id, let row, let at else { preconditionFailure("what is required is there") }
    let now = TimeText.now
    try body.require(at <= now + ReportTime.leadMax, "at", "must not be in the future")
    try body.require(at >= now - ReportTime.ageMax, "at", "must not be older than 14 days")
    report = SlotActionReport(id: id, action: action, row: row, happenedAt: ReportTime.clamped(at, now: now))
  }

  private static func isAction(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z0-9_.-]{1,64}/) != nil
  }
}

/// A batch of events as JSON. An event that cannot be used is rejected alone.
struct TelemetryDocument: Decodable {
  static let eventsMax = 100

  struct Rejection: Equatable {
    /// The event's place, from 0.
    let index: Int
    /// The member that is wrong; nil for the whole event.
    let field: String?
  }

  let events: [SlotEvent]
  let rejections: [Rejection]

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("events")
    try body.requireFew("events", Self.eventsMax, "elements")
    let elements = try body.decode([TelemetryElement].self, forKey: "events")
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

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(
      "id", "code", "slotId", "identifier", "whenMs", "attempt", "networkState", "tzOffset", "appState", "timestamp",
      "device_token")
    let id = UUID(hyphenated: try body.decode(String.self, forKey: "id"))
    try body.require(id != nil, "id", "must be a UUID")
    let code = SlotEvent.Code(rawValue: try body.decode(String.self, forKey: "code"))
    try body.require(code != nil, "code", "must be a known code")
    let slot = try body.decode(String.self, forKey: "slotId")
    try body.require(UserSlot.isSlot(slot), "slotId", SlotsDocument.slotDemand)
    let identifier = try body.decodeIfPresent(String.self, forKey: "identifier")
    let row = identifier.flatMap(SlotIdentifier.init)
    try body.require(identifier == nil || row != nil, "identifier", "must be as ritual.0800.2026-11-22")
    let token = try body.decodeIfPresent(String.self, forKey: "device_token")
    let device = token.flatMap { try? DeviceToken($0) }
    try body.require(token == nil || device != nil, "device_token", "must be \(DeviceToken.demand)")
    var circumstances = try Self.circumstances(in: body)
    circumstances["slotId"] = .string(slot)
    let time = try Self.timestamp(in: body)
    guard let id, let code else { preconditionFailure("what is required is there") }
    event = SlotEvent(
      id: id, code: code, row: row, deviceToken: device?.hexadecimal,
      circumstances: String(decoding: circumstances.encoded(), as: UTF8.self), happenedAt: ReportTime.clamped(time))
  }

  /// Of the year 3000.
  private static let millisecondsMax = 32_503_680_000_000

  /// What is kept beside the code and its time, under the names of the envelope.
  private static func circumstances(in body: Members) throws -> PayloadObject {
    var told = PayloadObject()
    for (key, range) in [
      ("whenMs", 0...millisecondsMax), ("attempt", 0...Int(Int32.max)), ("tzOffset", -1440...1440),
    ] as [(MemberName, ClosedRange<Int>)] {
      // A number with a fraction is an error of the whole document to the decoder.
      let number = body.contains(key) ? try? body.decode(Int.self, forKey: key) : try body.decode(Int.self, forKey: key)
      try body.require(
        number.map(range.contains) == true, key,
        "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      told[key.stringValue] = number.map { .integer(Int64($0)) }
    }
    for (key, words) in [
      ("networkState", ["online", "offline", "unknown"]), ("appState", ["active", "background", "killed"]),
    ] as [(MemberName, [String])] {
      let word = try body.decode(String.self, forKey: key)
      try body.require(words.contains(word), key, "must be \(words.joined(separator: ", "))")
      told[key.stringValue] = .string(word)
    }
    return told
  }

  /// Microseconds since 1970, from text or from milliseconds since 1970.
  private static func timestamp(in body: Members) throws -> Int64 {
    if let milliseconds = try? body.decode(Int.self, forKey: "timestamp") {
      try body.require((0...millisecondsMax).contains(milliseconds), "timestamp", "must be milliseconds since 1970")
      return Int64(milliseconds) * 1000
    }
    let instant = InstantText.microseconds(of: try body.decode(String.self, forKey: "timestamp"))
    try body.require(instant != nil, "timestamp", "must be a time such as 2026-01-31T20:15:00Z, in this millennium")
    return instant ?? 0
  }
}
