public import Reactors

extension TLSStream {
  /// Makes a client's connection secure: verifies the certificate and its host name, and agrees on a protocol.
  /// - Parameters:
  ///   - socket: connected; taken over, and closed when this throws.
  ///   - host: the name or the address that the certificate must be for; a name is also sent (SNI).
  ///   - limit: the time for the whole handshake.
  /// - Throws: ``TLSError``; `.protocolNotNegotiated` when the context names protocols and the server takes none.
  public static func connect(
    over socket: Socket, host: String, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws(TLSError) -> TLSStream {
    let stream = try TLSStream(over: socket, context: context, name: host)
    try stream.prepareClient(host: host)
    try await stream.shakeHands(within: limit, on: reactor)
    return stream
  }

  /// Makes a server's connection secure.
  /// - Throws: ``TLSError``; `.protocolNotNegotiated` when the client offers none of the context's protocols.
  public static func accept(
    over socket: Socket, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws(TLSError) -> TLSStream {
    let stream = try serve(over: socket, context: context)
    try await stream.shakeHands(within: limit, on: reactor)
    return stream
  }

  /// A server's connection before its handshake, for a caller that waits by itself: ``continueHandshake()`` comes next.
  /// - Throws: ``TLSError`` when OpenSSL has no memory.
  public static func serve(over socket: Socket, context: TLSContext) throws(TLSError) -> TLSStream {
    let stream = try TLSStream(over: socket, context: context, name: "client")
    stream.prepareServer()
    return stream
  }

  /// Goes on with the handshake as far as it goes without waiting.
  /// - Returns: what the socket must be ready for before the next call; nil when the handshake is complete.
  /// - Throws: ``TLSError``; the stream is of no further use.
  public func continueHandshake() throws(TLSError) -> Interest? {
    switch handshakeStep() {
    case .wouldBlock(let interest): return interest
    case .closed: throw TLSError(.unexpectedEnd, operation: "TLS handshake")
    case .failed(let error): throw error
    case nil:
      try requireProtocol()
      return nil
    }
  }

  private func shakeHands(within limit: Duration, on reactor: isolated Reactor) async throws(TLSError) {
    let start = Reactor.now
    while let interest = try continueHandshake() {
      try await wait(for: interest, within: limit - .nanoseconds(Reactor.now - start), on: reactor)
    }
  }

  private func wait(
    for interest: Interest, within limit: Duration, on reactor: isolated Reactor
  ) async throws(TLSError) {
    do throws(SystemError) {
      if try await reactor.waitForReadiness(of: descriptor, interest, for: limit) != nil { return }
    } catch {
      throw TLSError(.connectionLost, operation: "TLS handshake", system: error)
    }
    throw TLSError(.timedOut, operation: "TLS handshake")
  }
}
