public import CoreMetrics
public import Logging
public import Reactors
public import TLSStreams

/// An HTTP/1.1 service that listens on an address with one socket for each reactor.
///
/// A connection lives on the reactor that accepted it, and so does every handler it calls. May be used from any task.
public final class HTTPService: Sendable {
  /// Where it listens; the port is the one the kernel chose if none was asked for.
  public let address: SocketAddress

  let listeners: [ReactorBound<ReactorListener>]

  private init(address: SocketAddress, listeners: [ReactorBound<ReactorListener>]) {
    self.address = address
    self.listeners = listeners
  }

  /// Starts to listen and to serve.
  ///
  /// Over TCP the kernel spreads connections over the reactors (`SO_REUSEPORT`). A Unix socket has no such spreading and is
  /// served by the first reactor alone.
  ///
  /// - Parameters:
  ///   - tls: the server's identity, for `http/1.1`; nil serves without TLS.
  ///   - meter: shows the service's figures from now on.
  ///   - metrics: gets how long requests take, as `tacet_http_request_duration_seconds{method, route}`.
  ///   - logger: gets refused requests and handshakes at `debug`, connections turned away at `warning`, once a minute, and
  ///     failed handlers at `error`.
  /// - Throws: `SystemError` if the address cannot be bound.
  public static func start(
    _ routes: HTTPRoutes, on address: SocketAddress, reactors: [Reactor],
    configuration: HTTPServiceConfiguration = HTTPServiceConfiguration(), tls: TLSContext? = nil,
    meter: HTTPServiceMeter = HTTPServiceMeter(), metrics: any MetricsFactory = NOOPMetricsHandler.instance,
    logger: Logger
  ) async throws -> HTTPService {
    let context = ServiceContext(
      routes: routes, configuration: configuration, timers: RouteTimers(routes.operations, metrics), logger: logger)
    var address = address
    var listeners: [ReactorBound<ReactorListener>] = []
    for reactor in address.isUnix ? reactors.prefix(1) : reactors[...] {
      let wanted = address
      let (listener, bound) = try await reactor.perform { reactor in
        let listener = try ReactorListener(on: wanted, tls: tls, service: context, reactor: reactor)
        meter.add(ReactorBound(listener.registry, on: reactor))
        return (ReactorBound(listener, on: reactor), listener.acceptor.address)
      }
      listeners.append(listener)
      address = bound
    }
    return HTTPService(address: address, listeners: listeners)
  }

  /// Gives connections that are made from now on another identity; those that are open keep theirs. To be used on a
  /// service that was started with one.
  public func replaceTLS(_ tls: TLSContext) async {
    for listener in listeners {
      await listener.perform { listener, _ in listener.acceptor.tls = tls }
    }
  }

  /// How many connections are open, over all reactors.
  public var connectionCount: Int {
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
  /// How long connections that are between two requests have for their next one, which is answered as their last.
  ///
  /// 100 ms: a round trip to the next continent, and more than a busy client's pause.
  private static let farewell = Duration.milliseconds(100)

  /// How long connections that are being made have for it.
  ///
  /// 20 ms: a round trip to clients that are not far. Who is farther is reset unless `net.ipv4.tcp_migrate_req` is set; but
  /// whoever begins in this time comes a second later, see `ListeningSocket.refuseHandshakes`, so it is short.
  private static let handshake = Duration.milliseconds(20)

  /// How long a connection without any request is given for its first.
  ///
  /// 1 s: it was accepted last, and its request is on its way or lost and sent again (RFC 6298 section 2).
  private static let firstRequest = Duration.seconds(1)

  /// Ends the service without failing anybody: answers what comes with `Connection: close`, then lets the kernel make no new
  /// connections, accepts those that it has made, closes connections without a request, and aborts what is left when the time
  /// is over.
  ///
  /// A handler cannot be interrupted: one that is still running then keeps its task, and its answer goes nowhere.
  ///
  /// - Returns: whether every connection ended by itself.
  public func drain(within limit: Duration) async -> Bool {
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
struct ReactorListener {
  let acceptor: ConnectionAcceptor
  let registry: ConnectionRegistry

  init(
    on address: SocketAddress, tls: TLSContext?, service: ServiceContext, reactor: isolated Reactor
  ) throws(SystemError) {
    registry = ConnectionRegistry(service.configuration, operations: service.routes.operations)
    let socket = try ListeningSocket(on: address, unixMode: service.configuration.unixSocketMode)
    acceptor = ConnectionAcceptor(socket, tls: tls, registry: registry, service: service)
    try acceptor.start(on: reactor)
  }
}
