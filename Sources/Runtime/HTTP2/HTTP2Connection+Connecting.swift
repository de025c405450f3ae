internal import Glibc
public import Reactors
public import TLSStreams

extension HTTP2Connection {
  /// Connects, secures the connection and starts HTTP/2.
  ///
  /// Names are looked up afresh, and each address is tried in turn with an equal share of the time that is left.
  /// - Parameters:
  ///   - host: a name or a numeric address; also what the certificate must be for.
  ///   - context: a client's, with the protocol `h2`.
  ///   - limit: the time for everything.
  /// - Throws: ``ResolutionError``, ``SystemError`` or ``TLSError``, the last address's if there are several.
  public static func connect(
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

  /// A resolver that hangs must not hold up the caller: the answer is awaited only so long.
  private static func lookUp(
    _ host: String, port: UInt16, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> [SocketAddress] {
    if let address = SocketAddress(numericHost: host, port: port) { return [address] }
    let signal = Signal()
    let answer = LookupAnswer()
    reactor.start {
      do throws(ResolutionError) {
        answer.result = .success(try await Resolver.addresses(of: host, port: port))
      } catch {
        answer.result = .failure(error)
      }
      signal.signal(on: reactor)
    }
    _ = await signal.wait(for: limit, on: reactor)
    guard let result = answer.result else { throw SystemError(operation: "resolve \(host)", code: ETIMEDOUT) }
    return try result.get()
  }

  /// The port is left out where it is the scheme's own (RFC 9110 §4.2.3).
  private static func authority(host: String, port: UInt16) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }

  /// The first frames: no pushes, and room for the responses of a full house of streams.
  private func introduce() {
    session.submit([.noPush, .fieldsBytesMax(configuration.responseFieldsBytesMax)])
    session.widenConnectionWindow(to: HTTP2Connection.connectionWindowBytes)
    if configuration.firstStreamID > 1 { session.setNextStreamID(configuration.firstStreamID) }
  }

  /// Bytes the server may send ahead on all streams. Each stream keeps the protocol's 65,535, which is the usual limit
  /// of a response; 8 MiB are 8 KiB for each of 1,000 streams, so small responses never wait for an update.
  private static let connectionWindowBytes: Int32 = 8 * 1024 * 1024
}

private final class LookupAnswer {
  var result: Result<[SocketAddress], ResolutionError>?
}
