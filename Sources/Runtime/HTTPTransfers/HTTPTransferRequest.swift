internal import CLibcurl
package import HTTPTypes

/// A request to a web server.
///
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

/// A complete answer with any status.
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
