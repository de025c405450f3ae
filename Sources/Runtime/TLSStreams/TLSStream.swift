internal import COpenSSL
internal import Glibc
public import Reactors

/// A TLS connection over a reactor's socket, after its handshake.
///
/// OpenSSL reads and writes the descriptor itself, with read-ahead: one `recv` brings up to 64 KiB of records, which are
/// decrypted in place and copied once. Memory BIOs would cost two more copies of every byte and save no call.
/// Belongs to one reactor. Whoever uses it registers ``descriptor``, and deregisters it before letting go.
public final class TLSStream {
  let handle: OpaquePointer
  let context: TLSContext
  private let socket: Socket
  let name: String
  var mayShutDown = true

  /// The application protocol both sides agreed on, empty when the context names none.
  public internal(set) var negotiatedProtocol = ""

  init(over socket: Socket, context: TLSContext, name: String) throws(TLSError) {
    ErrorQueue.clear()
    guard let handle = SSL_new(context.handle) else { throw ErrorQueue.configurationError("SSL_new") }
    self.handle = handle
    self.context = context
    self.socket = socket
    self.name = name
    guard SSL_set_fd(handle, socket.descriptor) == 1 else { throw ErrorQueue.configurationError("SSL_set_fd") }
  }

  deinit {
    SSL_free(handle)
  }

  /// The socket's descriptor, for registration.
  public var descriptor: Int32 { socket.descriptor }

  /// Whether bytes have been taken from the socket that ``read(into:)`` has not returned: the kernel will not report
  /// them as readable again, so read on.
  public var hasBufferedInput: Bool { SSL_has_pending(handle) == 1 }

  /// Reads decrypted bytes. Buffers of 16 KiB take a whole record.
  public func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSReadOutcome {
    ErrorQueue.clear()
    let count = SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
    if count > 0 { return .bytes(Int(count)) }
    switch failure(count, errno: errno, "read from") {
    case .wouldBlock(let interest): return .wouldBlock(interest)
    case .closed: return .endOfStream
    case .failed(let error): return .failed(error)
    }
  }

  /// Encrypts and writes bytes, in records of at most 16 KiB: gather small pieces before calling.
  public func write(_ bytes: UnsafeRawBufferPointer) -> TLSWriteOutcome {
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

  /// Tells the peer that nothing more comes (`close_notify`). The answer is not awaited.
  /// - Returns: what the socket must be ready for when there is no room: call again then, or leave it; nil when it is told.
  @discardableResult
  public func shutDown() -> Interest? {
    guard mayShutDown else { return nil }
    ErrorQueue.clear()
    let result = SSL_shutdown(handle)
    // Zero: told, and not yet answered.
    if result < 0, case .wouldBlock(let interest) = failure(result, errno: errno, "shut down") { return interest }
    mayShutDown = false
    ErrorQueue.clear()
    return nil
  }

  /// ``shutDown()``, and once that is done the end of the stream for the peer; reading goes on.
  public func shutDownWriting() -> Interest? {
    if let interest = shutDown() { return interest }
    socket.shutDownWriting()
    return nil
  }

  /// One step of the handshake; nil when it is complete.
  func handshakeStep() -> Failure? {
    ErrorQueue.clear()
    let result = SSL_do_handshake(handle)
    return result == 1 ? nil : failure(result, errno: errno, "TLS handshake with")
  }

  func prepareClient(host: String) throws(TLSError) {
    SSL_set_connect_state(handle)
    let isNumeric = SocketAddress(numericHost: host, port: 0) != nil
    // A server name may not be an address (RFC 6066 §3).
    let isSet =
      isNumeric
      ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host) == 1
      : SSL_set1_host(handle, host) == 1 && copenssl_set_server_name(handle, host) == 1
    guard isSet else { throw ErrorQueue.configurationError("host name \(host)") }
  }

  func prepareServer() {
    SSL_set_accept_state(handle)
  }

  /// Notes the outcome of ALPN, and fails if the context requires one and there is none.
  func requireProtocol() throws(TLSError) {
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

/// How a non-blocking read of decrypted bytes ended.
public enum TLSReadOutcome: Equatable, Sendable {
  /// This many bytes were read, at least one, at most one record (16 KiB).
  case bytes(Int)
  /// Nothing to read before the socket is ready for this: usually `.read`, `.write` while TLS has something to say.
  case wouldBlock(Interest)
  /// The peer has said that it will send nothing more.
  case endOfStream
  /// The connection is broken.
  case failed(TLSError)
}

/// How a non-blocking write ended.
public enum TLSWriteOutcome: Equatable, Sendable {
  /// This many bytes were taken: a record's 16 KiB at most, and one more record if the first had to wait for room.
  case bytes(Int)
  /// Nothing was taken before the socket is ready for this. Offer the same bytes again, and at least as many.
  case wouldBlock(Interest)
  /// The connection is broken.
  case failed(TLSError)
}

/// From OpenSSL's codes and queue to what a caller can act on.
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

  /// After this, OpenSSL wants no `SSL_shutdown`.
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
