internal import CLibcurl

/// Why a transfer has no answer.
///
/// ``description`` can be shown to a stranger. ``debugDescription`` adds libcurl's text, which names the host but no password.
package struct HTTPTransferError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
  package enum Code: String, Sendable {
    /// The URL is malformed, or its scheme is not `http` or `https`.
    case invalidRequest = "the request cannot be sent"
    /// The limit of waiting transfers is reached. Nothing was sent; try later.
    case tooManyWaiting = "too many requests are waiting"
    /// The host name has no address. Nothing was sent.
    case unresolved = "the host's name cannot be resolved"
    /// The host has no address that the client may connect to. Nothing was sent.
    case forbidden = "the host's address is not allowed"
    /// The host refuses the connection. Nothing was sent.
    case unreachable = "the host cannot be reached"
    /// The server's certificate is untrusted, or for another host. Nothing was sent.
    case untrusted = "the server's certificate is not trusted"
    case handshake = "no secure connection could be made"
    /// The connection ended before the answer was complete. The request may have been processed.
    case connectionLost = "the connection was lost"
    case invalidAnswer = "the answer is not HTTP"
    case tooLarge = "the answer is too large"
    /// The deadline passed. The request may have been processed.
    case timedOut = "there was no answer in time"
    case cancelled = "the request was cancelled"
    case closed = "the client is closed"
    case failed = "the transfer failed"
  }

  package let code: Code

  /// libcurl's or the resolver's text; may be empty.
  package let message: String

  init(_ code: Code, _ message: String = "") {
    self.code = code
    self.message = message
  }

  package var description: String { code.rawValue }

  package var debugDescription: String { message.isEmpty ? description : "\(description): \(message)" }
}

extension HTTPTransferError {
  /// Whether no connection was made, for which another address of the host may be the remedy.
  var isOfConnecting: Bool {
    [.unreachable, .forbidden, .untrusted, .handshake].contains(code)
  }

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
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self = .connectionLost
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: self = .invalidAnswer
    case CURLE_FILESIZE_EXCEEDED: self = .tooLarge
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut
    default: self = .failed
    }
  }
}
