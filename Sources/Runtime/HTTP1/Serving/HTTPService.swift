package import CoreMetrics
package import Logging
package import Reactors

/// An HTTP/1.1 service that listens on an address with one socket for each reactor.
///
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

  /// The number of open connections, over all reactors.
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
  ///
  /// 100 ms: a round trip to the next continent, and more than a busy client's pause.
  private static let farewell = Duration.milliseconds(100)

  /// How long TCP handshakes under way have to complete.
  ///
  /// 20 ms: a round trip to near clients. Farther clients are reset unless `net.ipv4.tcp_migrate_req` is set. Connections
  /// attempted in this window succeed a second later (`ListeningSocket.refuseHandshakes`), so it is short.
  private static let handshake = Duration.milliseconds(20)

  /// How long a new connection has to send its first request.
  ///
  /// 1 s: its request is on its way, or lost and sent again (RFC 6298 section 2).
  private static let firstRequest = Duration.seconds(1)

  /// Ends the service gracefully.
  ///
  /// Answers requests with `Connection: close`, then drops new connection attempts, accepts the queued connections, closes
  /// connections without a request, and aborts the rest when the time is over.
  ///
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

/// A service's part on one reactor.
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
