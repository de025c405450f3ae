internal import COpenSSL
internal import Cryptography
internal import Glibc

/// A TLS connection over a socket, on one reactor.
/// OpenSSL reads and writes the descriptor itself, with read-ahead: one `recv` brings up to 64 KiB of records, which OpenSSL
/// decrypts in place and copies once. Memory BIOs would copy every byte twice more and save no call.
/// The owner registers ``descriptor``, and deregisters it before releasing the stream.
package final class TLSStream {
  let handle: OpaquePointer
  let context: TLSContext
  private let socket: Socket
  let name: String
  private var mayShutDown = true
  /// The negotiated application protocol; empty without one.
  package internal(set) var negotiatedProtocol = ""

  init(over socket: Socket, context: TLSContext, name: String) throws(TLSError) {
    ErrorQueue.clear()
    guard let handle = SSL_new(context.handle) else { throw ErrorQueue.configurationError("SSL_new") }
    self.handle = handle
    self.context = context
    self.socket = socket
    self.name = name
    guard SSL_set_fd(handle, socket.descriptor) == 1 else { throw ErrorQueue.configurationError("SSL_set_fd") }
  }

  deinit { SSL_free(handle) }

  package var descriptor: Int32 { socket.descriptor }

  /// Whether OpenSSL holds input that ``read(into:)`` has not returned. Read on: the kernel will not report it again.
  package var hasBufferedInput: Bool { SSL_has_pending(handle) == 1 }

  /// Reads decrypted bytes. A buffer of 16 KiB takes a whole record.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSReadOutcome {
    ErrorQueue.clear()
    let count = SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
    if count > 0 { return .bytes(Int(count)) }
    switch failure(count, errno: errno, "read from") {
    case .wouldBlock(let interest): return .wouldBlock(interest)
    case .closed: return .endOfStream
    case .failed(let error): return .failed(error)
    }
  }

  /// Encrypts and writes bytes in records of at most 16 KiB. Gather small pieces first.
  package func write(_ bytes: UnsafeRawBufferPointer) -> TLSWriteOutcome {
    guard !bytes.isEmpty else { return .bytes(0) }
    ErrorQueue.clear()
    let count = SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
    if count > 0 { return .bytes(Int(count)) }
    switch failure(count, errno: errno, "write to") {
    case .wouldBlock(let interest): return .wouldBlock(interest)
    case .closed: return .failed(TLSError(.connectionLost, operation: "write to \(name)"))
    case .failed(let error): return .failed(error)
    }
  }

  /// Sends `close_notify`, and does not wait for the peer's.
  /// - Returns: what the socket must be ready for before the next try; nil when it is sent.
  @discardableResult
  package func shutDown() -> Interest? {
    guard mayShutDown else { return nil }
    ErrorQueue.clear()
    let result = SSL_shutdown(handle)
    // Zero: sent, and not yet answered.
    if result < 0, case .wouldBlock(let interest) = failure(result, errno: errno, "shut down") { return interest }
    mayShutDown = false
    ErrorQueue.clear()
    return nil
  }

  /// ``shutDown()``, then ends the stream for the peer. Reading goes on.
  package func shutDownWriting() -> Interest? {
    if let interest = shutDown() { return interest }
    socket.shutDownWriting()
    return nil
  }
}

package enum TLSReadOutcome: Equatable, Sendable {
  /// This many bytes were read: at least one, at most one record (16 KiB).
  case bytes(Int)
  /// Nothing can be read before the socket is ready for this: usually `.read`, but `.write` when TLS has to write first.
  case wouldBlock(Interest)
  case endOfStream
  case failed(TLSError)
}

package enum TLSWriteOutcome: Equatable, Sendable {
  /// This many bytes were taken: at most a record of 16 KiB, and one more if the first had to wait for room.
  case bytes(Int)
  /// Nothing was taken. When the socket is ready for this, offer the same bytes again, and at least as many.
  case wouldBlock(Interest)
  case failed(TLSError)
}

// Failures: from OpenSSL's codes and error queue.
extension TLSStream {
  enum Failure {
    case wouldBlock(Interest)
    case closed
    case failed(TLSError)
  }

  func failure(_ result: Int32, errno code: Int32, _ verb: String) -> Failure {
    switch SSL_get_error(handle, result) {
    case SSL_ERROR_WANT_READ: return .wouldBlock(.read)
    case SSL_ERROR_WANT_WRITE: return .wouldBlock(.write)
    case SSL_ERROR_ZERO_RETURN: return .closed
    case SSL_ERROR_SYSCALL: return .failed(connectionLost(code, "\(verb) \(name)"))
    default: return .failed(libraryError("\(verb) \(name)"))
    }
  }

  /// OpenSSL forbids `SSL_shutdown` after this.
  private func connectionLost(_ code: Int32, _ operation: String) -> TLSError {
    mayShutDown = false
    let message = ErrorQueue.drain().text
    guard code != 0 else { return TLSError(.unexpectedEnd, operation: operation, message: message) }
    return TLSError(
      .connectionLost, operation: operation, message: message, system: SystemError(operation: "TLS", code: code))
  }

  private func libraryError(_ operation: String) -> TLSError {
    mayShutDown = false
    let content = ErrorQueue.drain()
    if content.reasons.contains(SSL_R_CERTIFICATE_VERIFY_FAILED) {
      let verification = String(cString: X509_verify_cert_error_string(SSL_get_verify_result(handle)))
      return TLSError(
        .certificateRefused, operation: operation, message: content.text, verification: verification)
    }
    if content.reasons.contains(SSL_R_UNEXPECTED_EOF_WHILE_READING) {
      return TLSError(.unexpectedEnd, operation: operation, message: content.text)
    }
    let noOverlap = [SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL]
    if content.reasons.contains(where: noOverlap.contains) { return protocolError(message: content.text) }
    return TLSError(.protocolFailure, operation: operation, message: content.text)
  }

  func protocolError(message: String) -> TLSError {
    let wanted = context.protocols.joined(separator: ", ")
    return TLSError(.protocolNotNegotiated, operation: "ALPN with \(name), wanted \(wanted)", message: message)
  }
}

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

package struct TLSError: Error, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    /// OpenSSL refuses a certificate, key, trust file or protocol list.
    case configuration
    /// The peer's certificate is untrusted, not valid now, or for another host; ``TLSError/verification`` says which.
    case certificateRefused
    /// The peers have no application protocol in common (ALPN, RFC 7301).
    case protocolNotNegotiated
    case timedOut
    /// The connection ended without the peer's `close_notify`: the peer may have sent more than was read.
    case unexpectedEnd
    /// The socket failed; ``TLSError/system`` says how.
    case connectionLost
    /// The peer broke the protocol, sent an alert, or refused this side's parameters.
    case protocolFailure
  }

  package let code: Code
  package let operation: String
  /// OpenSSL's text, several entries joined by `; `. Empty when OpenSSL gave none.
  package let message: String
  /// Why OpenSSL refused the peer's certificate; nil for other failures.
  package let verification: String?
  package let system: SystemError?

  init(
    _ code: Code, operation: String, message: String = "", verification: String? = nil, system: SystemError? = nil
  ) {
    self.code = code
    self.operation = operation
    self.message = message
    self.verification = verification
    self.system = system
  }

  /// One line with every detail. Holds no secrets.
  package var description: String {
    let details = [verification, system?.description, message.isEmpty ? nil : message].compactMap { $0 }
    return "\(operation): \(code)" + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
  }
}

extension ErrorQueue {
  /// The error of a set-up call that has just failed.
  static func configurationError(_ operation: String) -> TLSError {
    TLSError(.configuration, operation: operation, message: drain().text)
  }
}
