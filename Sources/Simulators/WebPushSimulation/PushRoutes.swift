internal import HTTP1
internal import HTTPTypes
internal import Reactors
internal import SimulationControl

/// The push service as senders see it.
struct PushRoutes: Sendable {
  /// Larger than any service accepts, so that the judge refuses large bodies and not the server.
  private static let bodyBytesMax = 64 * 1024

  let service: SimulatedPushService

  func table() -> HTTPRoutes {
    let service = service
    var routes = HTTPRoutes()
    routes.add(.post, "/push/{subscription}", bodyBytesMax: Self.bodyBytesMax) { request, reactor in
      try await Self.answer(request, service, on: reactor)
    }
    return routes
  }

  private static func answer(
    _ request: HTTPServerRequest, _ service: SimulatedPushService, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let identifier = request.parameter("subscription")
    let fault = service.nextFault(for: identifier)
    if fault?.kind == .dropBefore { throw HTTPHangUp() }
    let response = service.receive(PushInquiry(request.head, body: request.body), for: identifier, fault)
    switch fault?.kind {
    case .dropAfter: throw HTTPHangUp()
    case .blackHole:
      _ = await service.held.wait(for: nil, on: reactor)
      throw HTTPHangUp()
    case .delay:
      let delay = Duration.milliseconds(fault?.delayMilliseconds ?? 0)
      guard await service.held.wait(for: delay, on: reactor) else { throw HTTPHangUp() }
    case .answer, .dropBefore, nil: break
    }
    return HTTPServerResponse(response)
  }
}

extension HTTPServerResponse {
  fileprivate init(_ response: PushResponse) {
    var fields = HTTPFields()
    for (name, value) in response.fields.sorted(by: { $0.key < $1.key }) {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    self.init(
      status: HTTPResponse.Status(code: response.status), fields: fields, body: Array(response.body.utf8))
  }
}
