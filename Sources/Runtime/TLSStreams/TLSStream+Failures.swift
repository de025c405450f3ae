internal import COpenSSL
internal import Reactors

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
