internal import CoreMetrics
internal import HTTPTypes
internal import Logging
internal import Reactors
internal import Synchronization

/// What all connections of a service share: routes, bounds, and how to judge and answer a request.
///
/// An object, because each connection keeps it, and as a value it would take 300 bytes.
final class ServiceContext: Sendable {
  /// What to do with a request whose head has arrived.
  enum Judgement {
    /// Read the content up to this size, then handle the request.
    case process(HTTPServerRequest, bodyBytesMax: Int)
    /// Answer without reading the content. With the number of the request's route, if it has one.
    case answer(HTTPServerResponse, of: Int?)
  }

  let routes: HTTPRoutes
  let configuration: HTTPServiceConfiguration
  let census: ConnectionCensus
  /// The bytes of requests before their caller is admitted, and of admitted callers.
  let (strangersBytes, callersBytes): (BufferBudget, BufferBudget)
  /// How long the requests of each route take, from their head to their answer, by the routes' numbers.
  let timers: [CoreMetrics.Timer]
  let logger: Logger
  private let turnAwayLine = Mutex(MinuteLine())

  init(
    routes: HTTPRoutes, configuration: HTTPServiceConfiguration, metrics: any MetricsFactory, logger: Logger
  ) {
    self.routes = routes
    self.configuration = configuration
    timers = routes.operations.map { operation in
      Timer(
        label: "tacet_http_request_duration_seconds",
        dimensions: [("method", operation.method.rawValue), ("route", operation.pattern)], factory: metrics)
    }
    self.logger = logger
    census = ConnectionCensus(configuration.connections)
    strangersBytes = BufferBudget(bytesMax: configuration.connections.strangersBytesMax)
    // Content doubles its space as it arrives.
    callersBytes = BufferBudget(
      bytesMax: max(configuration.connections.callersBytesMax, 2 * configuration.limits.bodyBytesMax))
  }

  /// Logs one line a minute, with the number of connections turned away. The figures count all of them.
  /// - Parameter reason: the latest, which the line names.
  func logTurnAway(_ reason: HTTPServiceFigures.TurnAway) {
    guard let count = turnAwayLine.withLock({ $0.note(now: Reactor.now) }) else { return }
    logger.warning("connections turned away", metadata: ["count": "\(count)", "reason": "\(reason)"])
  }

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
      let answer = Self.options(allowed)
      let permission = configuration.crossOrigins.permission(for: head)
      return .answer(permission?.allowRequest(answer, methods: allowed) ?? answer, of: nil)
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

  /// The answer to a request whose admission or handler failed; nil when it hangs up.
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
