internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

extension ControlRoutes {
  /// How long a wait lasts when the request does not say, in milliseconds: longer than any push should take.
  private static let waitDefaultMilliseconds = 10_000
  /// No script waits longer than ten minutes for a push.
  private static let waitMaxMilliseconds = 600_000

  private struct PushPage: Encodable {
    let pushes: [PushRecord]
    let next: Int
  }

  private struct Totals: Encodable {
    let total: Int
    let outcomes: [String: Int]
    let unprocessed: Int
  }

  private struct Screen: Encodable {
    let lines: [PushScreen.Line]
  }

  private struct Lint: Encodable {
    let counts: [String: Int]
    let findings: [LintLog.Entry]
  }

  func addPushes(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/pushes") { request, _ in
      let query = try Self.query(request)
      let page = service.withLog { $0.records(query) }
      return try ControlAnswer.json(PushPage(pushes: page.records, next: page.next))
    }
    routes.add(.delete, "/pushes") { _, _ in
      service.withLog { $0.removeAll() }
      return ControlAnswer.done
    }
    routes.add(.get, "/pushes/wait") { request, reactor in try await Self.wait(request, for: service, on: reactor) }
    routes.add(.get, "/screen") { _, _ in try ControlAnswer.json(Screen(lines: service.withLog { $0.screen.visible })) }
    routes.add(.get, "/lint") { _, _ in
      let lint = service.lint
      let counts = Dictionary(uniqueKeysWithValues: lint.counts.map { ($0.key.rawValue, $0.value) })
      return try ControlAnswer.json(Lint(counts: counts, findings: lint.entries))
    }
  }

  private static func query(_ request: HTTPServerRequest) throws(ProblemDetails) -> PushQuery {
    var query = PushQuery()
    query.after = try request.queryNumber("after") ?? 0
    query.limit = try request.queryNumber("limit") ?? PushQuery.limitDefault
    query.token = request.head.queryValue("token")
    query.collapseID = request.head.queryValue("collapse_id")
    query.identifier = request.head.queryValue("apns_id")
    return query
  }

  private static func wait(
    _ request: HTTPServerRequest, for service: SimulatedService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    guard let count = try request.queryNumber("count") else {
      throw ProblemDetails.unfit("count is how many pushes to wait for")
    }
    let milliseconds = try request.queryNumber("timeout_ms") ?? waitDefaultMilliseconds
    let limit = Duration.milliseconds(min(milliseconds, waitMaxMilliseconds))
    guard await service.waitForPushes(count, within: limit, on: reactor) else {
      throw ProblemDetails(.requestTimeout, detail: "\(service.withLog { $0.total }) of \(count) pushes came in time")
    }
    return try ControlAnswer.json(totals(of: service))
  }

  private static func totals(of service: SimulatedService) -> Totals {
    let (total, outcomes) = service.withLog { ($0.total, $0.outcomes) }
    return Totals(total: total, outcomes: outcomes, unprocessed: service.unprocessed)
  }
}
