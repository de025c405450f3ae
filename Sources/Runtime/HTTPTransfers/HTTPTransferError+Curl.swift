internal import CLibcurl

extension HTTPTransferError {
  /// What a transfer of libcurl ended with.
  init(_ code: CURLcode, _ message: String) {
    self.init(Code(code), message.isEmpty ? String(cString: curl_easy_strerror(code)) : message)
  }
}

extension HTTPTransferError.Code {
  /// Source: libcurl-errors(3).
  fileprivate init(_ code: CURLcode) {
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT: self = .invalidRequest
    case CURLE_COULDNT_RESOLVE_HOST: self = .unresolved
    case CURLE_COULDNT_CONNECT: self = .unreachable
    case CURLE_PEER_FAILED_VERIFICATION: self = .untrusted
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_SHUTDOWN_FAILED:
      self = .handshake
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: self = .connectionLost
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: self = .invalidAnswer
    case CURLE_FILESIZE_EXCEEDED: self = .tooLarge
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    default: self = .failed
    }
  }
}
