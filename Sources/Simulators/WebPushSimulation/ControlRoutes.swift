internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

struct ControlRoutes: Sendable {
  let service: SimulatedPushService
  /// The service of subscriptions that name none.
  let face: PushServiceFace

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addSubscriptions(to: &routes)
    addPushes(to: &routes)
    addFaults(to: &routes)
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
    return routes
  }
}

extension ControlRoutes {
  private struct SubscriptionList: Encodable {
    let subscriptions: [SubscriptionAnswer]
  }

  private func addSubscriptions(to routes: inout HTTPRoutes) {
    let (service, face) = (service, face)
    routes.add(.post, "/subscriptions") { request, _ in
      let subscription = try SubscriptionDocument.read(request.body).subscription(face)
      guard service.add(subscription) else { throw ProblemDetails.full("too many subscriptions") }
      return try ControlAnswer.json(SubscriptionAnswer(subscription, service))
    }
    routes.add(.get, "/subscriptions") { _, _ in
      let all = service.subscriptions.map { SubscriptionAnswer($0, service) }
      return try ControlAnswer.json(SubscriptionList(subscriptions: all))
    }
    routes.add(.put, "/subscriptions/{id}/state") { request, _ in
      let state = try StateDocument.read(request.body).state
      guard service.setState(of: request.parameter("id"), to: state) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.add(.post, "/clock") { request, _ in
      service.advanceClock(milliseconds: try ClockDocument.read(request.body).checked())
      return ControlAnswer.done
    }
  }
}

extension ControlRoutes {
  /// The default limit of a wait, in milliseconds: longer than any push should take.
  private static let waitDefaultMilliseconds = 10_000
  private static let waitMaxMilliseconds = 600_000
  /// The records of one answer: some megabytes.
  private static let recordsMax = 1000

  private struct PushPage: Encodable {
    let pushes: [PushRecord]
  }

  private struct Totals: Encodable {
    let total: Int
    let outcomes: [String: Int]
  }

  private func addPushes(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/pushes") { request, _ in
      let (after, limit) = (try request.queryNumber("after") ?? 0, try request.queryNumber("limit") ?? Self.recordsMax)
      let pushes = service.pushes(
        after: after, of: request.head.queryValue("subscription"), limit: min(limit, Self.recordsMax))
      return try ControlAnswer.json(PushPage(pushes: pushes))
    }
    routes.add(.delete, "/pushes") { _, _ in
      service.forgetPushes()
      return ControlAnswer.done
    }
    routes.add(.get, "/pushes/wait") { request, reactor in try await Self.wait(request, for: service, on: reactor) }
  }

  private static func wait(
    _ request: HTTPServerRequest, for service: SimulatedPushService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    guard let count = try request.queryNumber("count") else {
      throw ProblemDetails.unfit("count is how many pushes to wait for")
    }
    let milliseconds = min(try request.queryNumber("timeout_ms") ?? waitDefaultMilliseconds, waitMaxMilliseconds)
    guard await service.waitForPushes(count, within: .milliseconds(milliseconds), on: reactor) else {
      throw ProblemDetails(.requestTimeout, detail: "\(service.totals.total) of \(count) pushes came in time")
    }
    let (total, outcomes) = service.totals
    return try ControlAnswer.json(Totals(total: total, outcomes: outcomes))
  }
}

extension ControlRoutes {
  private struct Faults: Encodable {
    let waiting: [FaultDocument]
  }

  private func addFaults(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.post, "/faults") { request, _ in
      guard service.arrange(try FaultDocument.read(request.body).fault()) else {
        throw ProblemDetails.full("too many faults are waiting")
      }
      return ControlAnswer.done
    }
    routes.add(.get, "/faults") { _, _ in
      try ControlAnswer.json(Faults(waiting: service.faults.map { FaultDocument($0) }))
    }
    routes.add(.delete, "/faults") { _, _ in
      service.removeFaults()
      return ControlAnswer.done
    }
  }
}
