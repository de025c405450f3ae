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
