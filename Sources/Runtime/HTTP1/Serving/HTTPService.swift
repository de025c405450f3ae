package import CoreMetrics
internal import HTTPTypes
package import Logging
package import Reactors
internal import Synchronization

/// An HTTP/1.1 service that listens on an address with one socket for each reactor.
/// A connection stays on the reactor that accepted it, and so do the handlers it calls. May be used from any task.
package final class HTTPService: Sendable {
  /// The address it listens on, with the kernel's choice in place of port 0.
  package let address: SocketAddress
  private let listeners: [ReactorBound<ReactorListener>]

  private init(address: SocketAddress, listeners: [ReactorBound<ReactorListener>]) {
    self.address = address
    self.listeners = listeners
  }

  /// Starts to listen and to serve.
  ///
  /// Over TCP the kernel spreads connections over the reactors (`SO_REUSEPORT`). The first reactor alone serves a Unix socket,
  /// where the kernel cannot.
  /// - Parameters:
  ///   - inherited: a listening socket from which all reactors accept, in place of the address.
  ///   - tls: the server's identity, for `http/1.1`; nil serves without TLS.
  ///   - meter: reads the service's figures from now on.
  ///   - metrics: records how long requests take, as `tacet_http_request_duration_seconds{method, route}`.
  ///   - logger: receives refused requests and handshakes at `debug`, connections turned away at `warning`, once a minute, and
  ///     failed handlers at `error`.
  /// - Throws: `SystemError` if the address cannot be bound.
  package static func start(
    _ routes: HTTPRoutes, on address: SocketAddress, inherited: Int32? = nil, reactors: [Reactor],
    configuration: HTTPServiceConfiguration = HTTPServiceConfiguration(), tls: TLSContext? = nil,
    meter: HTTPServiceMeter = HTTPServiceMeter(), metrics: any MetricsFactory = NOOPMetricsHandler.instance,
    logger: Logger
  ) async throws -> HTTPService {
    let context = ServiceContext(
      routes: routes, configuration: configuration, metrics: metrics, logger: logger)
    var address = address
    var listeners: [ReactorBound<ReactorListener>] = []
    for reactor in address.isUnix && inherited == nil ? reactors.prefix(1) : reactors[...] {
      let wanted = address
      let (listener, bound) = try await reactor.perform { reactor in
        let socket =
          try inherited.map(ListeningSocket.init(inherited:))
          ?? ListeningSocket(on: wanted, unixMode: configuration.unixSocketMode)
        let listener = try ReactorListener(socket, tls: tls, service: context, reactor: reactor)
        meter.add(ReactorBound(listener.registry, on: reactor))
        return (ReactorBound(listener, on: reactor), listener.acceptor.address)
      }
      listeners.append(listener)
      address = bound
    }
    return HTTPService(address: address, listeners: listeners)
  }

  /// Gives new connections another identity. Open connections keep theirs. Only for services with TLS.
  package func replaceTLS(_ tls: TLSContext) async {
    for listener in listeners {
      await listener.perform { listener, _ in listener.acceptor.tls = tls }
    }
  }

  package var connectionCount: Int {
    get async {
      var count = 0
      for listener in listeners {
        count += await listener.perform { listener, _ in listener.registry.count }
      }
      return count
    }
  }
}

extension HTTPService {
  /// How long idle connections have to send another request, which is answered as their last.
  /// 100 ms: a round trip to the next continent, and more than a busy client's pause.
  private static let farewell = Duration.milliseconds(100)
  /// How long TCP handshakes under way have to complete.
  /// 20 ms: a round trip to near clients. Farther clients are reset unless `net.ipv4.tcp_migrate_req` is set. Connections
  /// attempted in this window succeed a second later (`ListeningSocket.refuseHandshakes`), so it is short.
  private static let handshake = Duration.milliseconds(20)
  /// How long a new connection has to send its first request.
  /// 1 s: its request is on its way, or lost and sent again (RFC 6298 section 2).
  private static let firstRequest = Duration.seconds(1)

  /// Ends the service gracefully.
  /// Answers requests with `Connection: close`, then drops new connection attempts, accepts the queued connections, closes
  /// connections without a request, and aborts the rest when the time is over.
  /// Handlers cannot be interrupted. One that is still running at the end keeps its task, and its answer is dropped.
  /// - Returns: whether every connection ended before the limit.
  package func drain(within limit: Duration) async -> Bool {
    let deadline = ContinuousClock.now + limit
    await drain(to: .lastAnswers) { _, _ in }
    await sleep(for: min(Self.farewell, limit))
    await drain(to: .lastAnswers) { $0.leave(on: $1) }
    await sleep(for: min(Self.handshake, max(.zero, deadline - .now)))
    await drain(to: .closesIdle) { $0.stop(on: $1) }
    if await !waitUntilEmpty(until: min(deadline, .now + Self.firstRequest)) {
      await drain(to: .closesQuiet) { _, _ in }
    }
    if await waitUntilEmpty(until: deadline) { return true }
    for listener in listeners { await listener.perform { $0.registry.abort(on: $1) } }
    return false
  }

  private func sleep(for time: Duration) async {
    await listeners.first?.perform { await $1.sleep(for: time) }
  }

  private func drain(
    to stage: ConnectionRegistry.DrainStage,
    _ step: @escaping @Sendable (ConnectionAcceptor, isolated Reactor) -> Void
  ) async {
    for listener in listeners {
      await listener.perform { listener, reactor in
        step(listener.acceptor, reactor)
        listener.registry.drain(to: stage, on: reactor)
      }
    }
  }

  private func waitUntilEmpty(until deadline: ContinuousClock.Instant) async -> Bool {
    for listener in listeners {
      let limit = max(.zero, deadline - .now)
      guard await listener.perform({ await $0.registry.waitUntilEmpty(for: limit, on: $1) }) else { return false }
    }
    return true
  }
}

private struct ReactorListener {
  let acceptor: ConnectionAcceptor
  let registry: ConnectionRegistry

  init(
    _ socket: ListeningSocket, tls: TLSContext?, service: ServiceContext, reactor: isolated Reactor
  ) throws(SystemError) {
    registry = ConnectionRegistry(service.configuration, operations: service.routes.operations)
    acceptor = ConnectionAcceptor(socket, tls: tls, registry: registry, service: service)
    try acceptor.start(on: reactor)
  }
}

/// What all connections of a service share: routes, bounds, and how to judge and answer a request.
/// An object, because each connection keeps it, and as a value it would take 300 bytes.
final class ServiceContext: Sendable {
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
      let request = HTTPServerRequest(head: head, client: client, matched: route, parameters: parameters)
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
