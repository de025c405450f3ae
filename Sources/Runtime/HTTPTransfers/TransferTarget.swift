internal import CLibcurl

/// Where a URL leads, as libcurl itself reads it.
struct TransferTarget {
  /// A name or a numeric address, an IPv6 one without its brackets.
  let host: String
  let port: UInt16

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
  }

  private static func text(_ parts: OpaquePointer?, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
