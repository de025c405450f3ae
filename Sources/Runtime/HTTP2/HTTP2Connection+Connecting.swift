internal import Glibc
package import Reactors

extension HTTP2Connection {
  /// Connects, secures the connection and starts HTTP/2.
  ///
  /// Looks the name up each time, and tries its addresses in turn. Each has an equal share of the time that is left.
  /// - Parameters:
  ///   - host: a name or a numeric address. The certificate must be for it.
  ///   - context: a client's context with the protocol `h2`.
  ///   - limit: the time for the whole connect.
  /// - Throws: ``ResolutionError``, ``SystemError`` or ``TLSError``: of the last address, if there are several.
  package static func connect(
    host: String, port: UInt16, context: TLSContext,
    configuration: HTTP2ClientConfiguration = HTTP2ClientConfiguration(),
    observer: (any HTTP2ConnectionObserver)? = nil, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> HTTP2Connection {
    let start = Reactor.now
    var addresses = try await lookUp(host, port: port, within: limit, on: reactor)[...]
    while let address = addresses.popFirst() {
      let share = (limit - .nanoseconds(Reactor.now - start)) / (addresses.count + 1)
      do {
        let stream = try await secure(address, host: host, context: context, within: share, on: reactor)
        return try open(over: stream, host: host, port: port, configuration, observer, on: reactor)
      } catch  where !addresses.isEmpty {
        continue
      }
    }
    throw SystemError(operation: "resolve \(host)", code: EADDRNOTAVAIL)
  }

  private static func secure(
    _ address: SocketAddress, host: String, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> TLSStream {
    precondition(context.protocols.contains("h2"), "HTTP/2 over TLS needs ALPN h2 (RFC 9113 §3.2)")
    let start = Reactor.now
    let socket = try await Socket.connect(to: address, within: limit, on: reactor)
    let rest = limit - .nanoseconds(Reactor.now - start)
    return try await TLSStream.connect(over: socket, host: host, context: context, within: rest, on: reactor)
  }

  private static func open(
    over stream: TLSStream, host: String, port: UInt16, _ configuration: HTTP2ClientConfiguration,
    _ observer: (any HTTP2ConnectionObserver)?, on reactor: isolated Reactor
  ) throws -> HTTP2Connection {
    let connection = HTTP2Connection(
      over: stream, authority: authority(host: host, port: port), configuration: configuration)
    connection.observer = observer
    connection.introduce()
    try connection.link.start(for: connection, on: reactor)
    connection.checkLiveness(on: reactor)
    return connection
  }

  /// Waits for the resolver at most until the limit, because a hanging resolver must not hold up the caller.
  private static func lookUp(
    _ host: String, port: UInt16, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> [SocketAddress] {
    if let address = SocketAddress(numericHost: host, port: port) { return [address] }
    let signal = Signal()
    var answer: Result<[SocketAddress], ResolutionError>?
    reactor.start {
      do throws(ResolutionError) {
        answer = .success(try await Resolver.addresses(of: host, port: port))
      } catch {
        answer = .failure(error)
      }
      signal.signal(on: reactor)
    }
    _ = await signal.wait(for: limit, on: reactor)
    guard let answer else { throw SystemError(operation: "resolve \(host)", code: ETIMEDOUT) }
    return try answer.get()
  }

  /// Omits the scheme's default port (RFC 9110 §4.2.3).
  private static func authority(host: String, port: UInt16) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }

  /// Submits the first frames: no server push, and a window for the responses of all streams.
  private func introduce() {
    session.submit([.noPush, .fieldsBytesMax(configuration.responseFieldsBytesMax)])
    session.widenConnectionWindow(to: Self.connectionWindowBytes)
    if configuration.firstStreamID > 1 { session.setNextStreamID(configuration.firstStreamID) }
  }

  /// The connection's flow-control window. Each stream keeps the protocol's 65,535 bytes, the usual limit of a response. 8 MiB
  /// are 8 KiB for each of 1,000 streams, so small responses never wait for an update.
  private static let connectionWindowBytes: Int32 = 8 * 1024 * 1024
}
