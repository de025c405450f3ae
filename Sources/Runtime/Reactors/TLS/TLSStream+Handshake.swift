internal import COpenSSL
internal import Cryptography
internal import Glibc

extension TLSStream {
  /// Secures a client's connection: verifies the certificate and its host name, and negotiates a protocol.
  /// - Parameters:
  ///   - socket: a connected socket. The stream owns it, and it closes when this throws.
  ///   - host: the name or address that the certificate must be for. A name is also sent (SNI).
  ///   - limit: the time for the whole handshake.
  /// - Throws: ``TLSError``; `.protocolNotNegotiated` when the server accepts none of the context's protocols.
  package static func connect(
    over socket: Socket, host: String, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws(TLSError) -> TLSStream {
    let stream = try TLSStream(over: socket, context: context, name: host)
    try stream.prepareClient(host: host)
    try await stream.shakeHands(within: limit, on: reactor)
    return stream
  }

  /// Secures a server's connection.
  /// - Throws: ``TLSError``; `.protocolNotNegotiated` when the client offers none of the context's protocols.
  package static func accept(
    over socket: Socket, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws(TLSError) -> TLSStream {
    let stream = try serve(over: socket, context: context)
    try await stream.shakeHands(within: limit, on: reactor)
    return stream
  }

  /// A server's connection before its handshake, for a caller that drives ``continueHandshake()`` itself.
  /// - Throws: ``TLSError`` when OpenSSL has no memory.
  package static func serve(over socket: Socket, context: TLSContext) throws(TLSError) -> TLSStream {
    let stream = try TLSStream(over: socket, context: context, name: "client")
    SSL_set_accept_state(stream.handle)
    return stream
  }

  /// Continues the handshake as far as possible without waiting.
  /// - Returns: what the socket must be ready for before the next call; nil when the handshake is complete.
  /// - Throws: ``TLSError``; the stream cannot be used any more.
  package func continueHandshake() throws(TLSError) -> Interest? {
    ErrorQueue.clear()
    let result = SSL_do_handshake(handle)
    guard result != 1 else {
      try requireProtocol()
      return nil
    }
    switch failure(result, errno: errno, "TLS handshake with") {
    case .wouldBlock(let interest): return interest
    case .closed: throw TLSError(.unexpectedEnd, operation: "TLS handshake")
    case .failed(let error): throw error
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

  private func prepareClient(host: String) throws(TLSError) {
    SSL_set_connect_state(handle)
    let isNumeric = SocketAddress(numericHost: host, port: 0) != nil
    // SNI takes names only (RFC 6066 §3).
    let isSet =
      isNumeric
      ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host) == 1
      : SSL_set1_host(handle, host) == 1 && copenssl_set_server_name(handle, host) == 1
    guard isSet else { throw ErrorQueue.configurationError("host name \(host)") }
  }

  /// Records the negotiated protocol.
  /// - Throws: ``TLSError`` when the context requires a protocol and there is none.
  private func requireProtocol() throws(TLSError) {
    var selected: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(handle, &selected, &length)
    negotiatedProtocol = String(decoding: UnsafeBufferPointer(start: selected, count: Int(length)), as: UTF8.self)
    if context.protocols.isEmpty || context.protocols.contains(negotiatedProtocol) { return }
    guard negotiatedProtocol.isEmpty, !context.requiresProtocol else {
      throw protocolError(message: "the peer chose none of \(context.protocols.joined(separator: ", "))")
    }
  }
}
