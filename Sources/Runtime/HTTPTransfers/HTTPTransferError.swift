internal import CLibcurl

/// Why a transfer has no answer.
///
/// ``description`` may be shown to a stranger; ``debugDescription`` adds libcurl's words, which name the host and never a
/// password.
public struct HTTPTransferError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What kind of failure it is, and with it what the caller can do.
  public enum Code: String, Sendable {
    /// The request cannot be sent as it is: the URL is not understood, or has another scheme than `http` and `https`.
    case invalidRequest = "the request cannot be sent"
    /// As many as may wait do; nothing was sent. Try later.
    case tooManyWaiting = "too many requests are waiting"
    /// The name of the host has no address; nothing was sent.
    case unresolved = "the host's name cannot be resolved"
    /// Nobody takes the connection; nothing was sent.
    case unreachable = "the host cannot be reached"
    /// The server's certificate is not believed, or is another host's; nothing was sent.
    case untrusted = "the server's certificate is not trusted"
    /// TLS failed otherwise.
    case handshake = "no secure connection could be made"
    /// The connection ended before the answer was complete: the request may or may not have been processed.
    case connectionLost = "the connection was lost"
    /// The answer is no HTTP.
    case invalidAnswer = "the answer is not HTTP"
    /// The answer is larger than allowed.
    case tooLarge = "the answer is too large"
    /// The deadline passed: the request may or may not have been processed.
    case timedOut = "there was no answer in time"
    /// The calling task was cancelled.
    case cancelled = "the request was cancelled"
    /// The client was closed.
    case closed = "the client is closed"
    /// Anything else.
    case failed = "the transfer failed"
  }

  /// What to match on.
  public let code: Code

  /// libcurl's or the resolver's words; may be empty.
  public let message: String

  init(_ code: Code, _ message: String = "") {
    self.code = code
    self.message = message
  }

  /// The kind of failure.
  public var description: String { code.rawValue }

  /// The description and the message.
  public var debugDescription: String { message.isEmpty ? description : "\(description): \(message)" }
}

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
