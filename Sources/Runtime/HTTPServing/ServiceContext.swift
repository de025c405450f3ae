internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Reactors

/// What all connections of a service share: routes, bounds, and how a request is judged and answered.
///
/// An object, because each connection keeps it, and as a value it is 300 bytes.
final class ServiceContext: Sendable {
  /// What is done with a request whose head has arrived.
  enum Judgement {
    /// Read the content up to this size, then have it handled.
    case process(HTTPServerRequest, bodyBytesMax: Int)
    /// Answer without reading the content; the number of the route that it was for, if it was for one.
    case answer(HTTPServerResponse, of: Int?)
  }

  let routes: HTTPRoutes
  let configuration: HTTPServiceConfiguration
  let census: ConnectionCensus
  /// What is kept for requests whose caller is not settled, and for those of callers that were let in.
  let (strangersBytes, callersBytes): (BufferBudget, BufferBudget)
  let turnAways: TurnAwayLog
  let timers: RouteTimers
  let logger: Logger

  init(routes: HTTPRoutes, configuration: HTTPServiceConfiguration, timers: RouteTimers, logger: Logger) {
    self.routes = routes
    self.configuration = configuration
    self.timers = timers
    self.logger = logger
    census = ConnectionCensus(configuration.connections)
    turnAways = TurnAwayLog(logger: logger)
    strangersBytes = BufferBudget(bytesMax: configuration.connections.strangersBytesMax)
    // Content doubles its room as it arrives.
    callersBytes = BufferBudget(
      bytesMax: max(configuration.connections.callersBytesMax, 2 * configuration.limits.bodyBytesMax))
  }

  /// - Parameter client: whom the request comes from, as far as known.
  func judge(_ head: RequestHead, from client: IPAddress?) -> Judgement {
    if head.isForServer { return .answer(Self.options(routes.allMethods), of: nil) }
    switch routes.match(head) {
    case .found(let route, let parameters):
      if head.framing.expectsContent, !route.accepts(contentType: head[.contentType]) {
        return .answer(ProblemDetails.unsupportedMediaType(route.mediaTypes).response, of: route.number)
      }
      let bodyBytesMax = route.bodyBytesMax ?? configuration.limits.bodyBytesMax
      if case .length(let length) = head.framing, length > bodyBytesMax {
        return .answer(ProblemDetails.contentTooLarge.response, of: route.number)
      }
      let request = HTTPServerRequest(head, from: client, to: route, parameters: parameters)
      return .process(request, bodyBytesMax: bodyBytesMax)
    case .methodNotAllowed(let allowed) where head.method == .options:
      return .answer(Self.options(allowed), of: nil)
    case .methodNotAllowed(let allowed):
      return .answer(ProblemDetails.methodNotAllowed(allowed).response, of: nil)
    case .notFound:
      return .answer(ProblemDetails.notFound.response, of: nil)
    }
  }

  /// - Returns: nil when the handler hangs up.
  func respond(
    to request: HTTPServerRequest, _ handler: HTTPImmediateHandler, on reactor: isolated Reactor
  ) -> HTTPServerResponse? {
    do {
      return try handler(request, reactor)
    } catch {
      return answer(to: error, of: request)
    }
  }

  /// - Returns: nil when the handler hangs up.
  func respond(
    to request: HTTPServerRequest, _ handler: HTTPHandler, on reactor: isolated Reactor
  ) async -> HTTPServerResponse? {
    do {
      return try await handler(request, reactor)
    } catch {
      return answer(to: error, of: request)
    }
  }

  /// What is answered to a request that was not let in or whose handler failed; nil when it hangs up.
  func answer(to error: any Error, of request: HTTPServerRequest) -> HTTPServerResponse? {
    if error is HTTPHangUp { return nil }
    if let problem = error as? ProblemDetails { return problem.response }
    logger.error("handler failed", metadata: ["route": "\(request.route)", "error": "\(error)"])
    return ProblemDetails.internalServerError.response
  }

  private static func options(_ allowed: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .noContent, fields: [.allow: allowed])
  }
}
