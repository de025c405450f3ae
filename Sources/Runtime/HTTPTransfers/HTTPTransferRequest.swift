internal import CLibcurl
package import HTTPTypes
internal import Reactors

/// A request to a web server.
/// Redirects are not followed, and proxies of the environment are not used.
package struct HTTPTransferRequest: Sendable {
  package var method: HTTPRequest.Method
  /// An absolute URL with the scheme `http` or `https`. Its user and password are sent as basic authentication.
  package var url: String
  /// Header fields. The client adds Host, Content-Length and, unless it is here, User-Agent.
  package var fields: HTTPFields
  package var body: [UInt8]?
  /// The time from the call to the last byte of the answer, including the wait for a turn and the resolution.
  package var deadline: Duration
  /// The largest content of the answer, in bytes.
  package var bodyBytesMax: Int
  /// Whether to fail with ``HTTPTransferError/Code/connectionLost`` where libcurl would send the request again: when a kept
  /// connection ends without an answer. The server may have processed the first one (RFC 9110 section 9.2.2).
  package var isSentOnce = false
  /// Where this request may connect to, instead of the client's ``HTTPTransferConfiguration/reach``. A kept connection is used
  /// again without another judgement, so requests to one host and port must have one reach.
  package var reach: HTTPTransferReach?

  package init(
    _ method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: [UInt8]? = nil,
    deadline: Duration = .seconds(10), bodyBytesMax: Int = 1 << 20
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.deadline = deadline
    self.bodyBytesMax = bodyBytesMax
  }
}

package struct HTTPTransferResponse: Sendable {
  /// The final status; may be a redirect.
  package let status: HTTPResponse.Status
  package let fields: HTTPFields
  /// The content without transfer coding, at most `bodyBytesMax` bytes.
  package let body: [UInt8]
}

/// The host and port of a URL, as libcurl parses it.
struct TransferTarget {
  /// A name or a numeric address, without the brackets of IPv6.
  let host: String
  let port: UInt16
  /// Whether the scheme is `http`.
  let isPlain: Bool

  init(_ url: String) throws(HTTPTransferError) {
    let parts = curl_url()
    defer { curl_url_cleanup(parts) }
    let code = curl_url_set(parts, CURLUPART_URL, url, 0)
    guard code == CURLUE_OK else {
      throw HTTPTransferError(.invalidRequest, String(cString: curl_url_strerror(code)))
    }
    guard let scheme = Self.text(parts, CURLUPART_SCHEME), ["http", "https"].contains(scheme) else {
      throw HTTPTransferError(.invalidRequest, "the scheme is neither http nor https")
    }
    guard let host = Self.text(parts, CURLUPART_HOST), !host.isEmpty,
      let port = Self.text(parts, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap(UInt16.init)
    else { throw HTTPTransferError(.invalidRequest, "the URL names no host") }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
    isPlain = scheme == "http"
  }

  private static func text(_ parts: OpaquePointer?, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

/// Where a client may connect to.
/// Judged by the address of each new connection, not by the name: a name may resolve to anything, and to something else next time.
package struct HTTPTransferReach: Sendable, Equatable {
  /// Whether addresses that are not on the public internet are reached: `IPAddress.isPublic`.
  package var includesPrivateAddresses: Bool
  /// Whether `http` is used elsewhere than on this machine.
  package var includesPlainHTTP: Bool

  package init(includesPrivateAddresses: Bool = true, includesPlainHTTP: Bool = true) {
    self.includesPrivateAddresses = includesPrivateAddresses
    self.includesPlainHTTP = includesPlainHTTP
  }

  /// Whether a connection may be made.
  /// - Parameter isPlain: whether it is without TLS.
  func allows(_ address: IPAddress, isPlain: Bool) -> Bool {
    (includesPrivateAddresses || address.isPublic) && (includesPlainHTTP || !isPlain || address.isLoopback)
  }
}

/// Why a transfer has no answer.
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
  var isOfConnecting: Bool { [.unreachable, .forbidden, .untrusted, .handshake].contains(code) }

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
