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
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    let logger = group.logger
    group.addForClients(.post, "/v1/actions", hasContent: true, load: .write) { user, request, reactor in
      let report = try RequestContent.decode(ActionDocument.self, from: request.body).report
      return try await note(report, of: user, services.value(on: reactor), logger, on: reactor)
    }
    group.addForClients(.post, "/v1/telemetry", hasContent: true, load: .documentWrite) { user, request, reactor in
      let document = try RequestContent.decode(TelemetryDocument.self, from: request.body)
      let events = document.events
      let services = services.value(on: reactor)
      guard let new = events.isEmpty ? [] : try await services.callers.report(events, of: user, on: reactor) else {
        throw ProblemDetails.reportedEnough
      }
      try await services.slots?.count(new, on: reactor)
      let answer = TelemetryAnswer(
        accepted: new.count, duplicates: events.count - new.count, rejected: document.rejections)
      return HTTPServerResponse(json: answer.json)
    }
  }

  private static func note(
    _ report: SlotActionReport, of user: HostID, _ services: PushServices, _ logger: Logger,
    on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let outcome = try await services.callers.report(report, of: user, on: reactor)
    services.activity.note(user, on: reactor)
    switch outcome {
    case .noted(let answer):
      await services.tellSlots(of: user, logger, on: reactor)
      return HTTPServerResponse(json: Array(answer.utf8))
    case .repeated(let answer): return HTTPServerResponse(json: Array(answer.utf8))
    case .otherReport: throw ProblemDetails.unprocessable("id", "This id was used for another report.")
    case .tooMany: throw ProblemDetails.reportedEnough
    case .unknownRow: throw ProblemDetails.content("identifier", "The user has no notification of this identifier.")
    }
  }
}

extension ProblemDetails {
  /// Rows of reports go after the retention, a few each hour.
  fileprivate static let reportedEnough = ProblemDetails(
    .tooManyRequests, detail: "As many reports of the user are kept as may be.", fields: [.retryAfter: "3600"])
}

extension PushServices {
  /// Renders what is to come for a user of whom something has changed. A failure is logged: the change is stored, and the
  /// process that pushes slots renders again.
  func tellSlots(of user: HostID, _ logger: Logger, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await slots?.userChanged(user, on: reactor)
    } catch {
      logger.warning("a user's slots were not rendered anew", metadata: ["error": "\(error)"])
    }
  }
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

  private enum Key: String, CodingKey, CaseIterable {
    case id, action, identifier, at
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let id = UUID(hyphenated: try body.decode(String.self, forKey: .id))
    let action = try body.decode(String.self, forKey: .action)
    let row = SlotIdentifier(try body.decode(String.self, forKey: .identifier))
    let at = InstantText.microseconds(of: try body.decode(String.self, forKey: .at))
    try body.require(id != nil, .id, "must be a UUID")
    try body.require(Self.isAction(action), .action, "must be 1 to 64 letters, digits, _, - and .")
    try body.require(row != nil, .identifier, "must be as ritual.0800.2026-11-22")
    try body.require(at != nil, .at, "must be a time such as 2026-01-31T20:15:00Z, in this millennium")
    guard let id, let row, let at else { preconditionFailure("what is required is there") }
    let now = TimeText.now
    try body.require(at <= now + ReportTime.leadMax, .at, "must not be in the future")
    try body.require(at >= now - ReportTime.ageMax, .at, "must not be older than 14 days")
    report = SlotActionReport(id: id, action: action, row: row, happenedAt: ReportTime.clamped(at, now: now))
  }

  private static func isAction(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z0-9_.-]{1,64}/) != nil
  }
}

private struct TelemetryAnswer: JSONAnswer {
  let accepted: Int
  let duplicates: Int
  let rejected: [TelemetryDocument.Rejection]
}
