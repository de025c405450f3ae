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
    let stream = try TLSStream(over: socket, context: context, name: "client")
    stream.prepareServer()
    try await stream.shakeHands(within: limit, on: reactor)
    return stream
  }

  private func shakeHands(within limit: Duration, on reactor: isolated Reactor) async throws(TLSError) {
    let start = Reactor.now
    while let step = handshakeStep() {
      switch step {
      case .wouldBlock(let interest):
        try await wait(for: interest, within: limit - .nanoseconds(Reactor.now - start), on: reactor)
      case .closed:
        throw TLSError(.unexpectedEnd, operation: "TLS handshake")
      case .failed(let error):
        throw error
      }
    }
    try requireProtocol()
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
