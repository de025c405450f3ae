internal import CLibcurl
internal import HTTPTypes
internal import Reactors

/// The one owner of an easy handle: a request, and its answer so far.
/// libcurl calls back on the reactor that called it, and keeps a pointer to this object. So the object must live as long as it is
/// in the multi handle.
final class EasyHandle {
  let pointer: UnsafeMutableRawPointer
  private let fields: FieldList
  private let resolution: FieldList
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private let bodyBytesMax: Int

  private var head = TransferHead()
  private var body: [UInt8] = []
  private var isTooLarge = false
  private var wasSent = false
  private var wasStoppedFromResending = false
  private let reach: HTTPTransferReach
  private let isPlain: Bool
  /// Whether the client may connect to any address of the host; nil before the first.
  private var isWithinReach: Bool?

  /// Prepares a request.
  /// - Parameter addresses: the addresses of the target's host, in the order to try them.
  init(
    _ request: HTTPTransferRequest, to target: TransferTarget, at addresses: [SocketAddress],
    _ configuration: HTTPTransferConfiguration
  ) {
    guard let pointer = curl_easy_init() else { preconditionFailure("no memory for an easy handle") }
    self.pointer = pointer
    bodyBytesMax = request.bodyBytesMax
    reach = request.reach ?? configuration.reach
    isPlain = target.isPlain
    fields = FieldList(request.fieldLines)
    resolution = FieldList(target.resolution(addresses))
    errorText[0] = 0
    set(request)
    set(configuration, hasUserAgent: request.fields[.userAgent] != nil)
    setSurroundings()
    setVersion(configuration.multiplexes)
    setCallbacks()
    setSocketOpening()
    if request.isSentOnce { setSending() }
  }

  deinit {
    curl_easy_cleanup(pointer)
    errorText.deallocate()
  }

  func result(of code: CURLcode) -> Result<HTTPTransferResponse, HTTPTransferError> {
    if isTooLarge { return .failure(HTTPTransferError(.tooLarge)) }
    if wasStoppedFromResending { return .failure(HTTPTransferError(.connectionLost, "sent once, without an answer")) }
    if isWithinReach == false { return .failure(HTTPTransferError(.forbidden)) }
    guard code == CURLE_OK else { return .failure(HTTPTransferError(code, String(cString: errorText))) }
    // libcurl accepts a head that ends after its status line.
    guard head.isComplete else { return .failure(HTTPTransferError(.connectionLost, "the head is cut off")) }
    var status = 0
    clibcurl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status)
    guard 200...599 ~= status else { return .failure(HTTPTransferError(.invalidAnswer, "status \(status)")) }
    return .success(
      HTTPTransferResponse(status: HTTPResponse.Status(code: status), fields: head.fields, body: body))
  }

  /// One line of the answer's head has arrived.
  /// - Returns: whether to continue.
  private func take(headLine line: UnsafeRawBufferPointer) -> Bool {
    isTooLarge = !head.take(line)
    return !isTooLarge
  }

  /// A part of the answer's content has arrived.
  /// - Returns: whether to continue.
  private func take(content bytes: UnsafeRawBufferPointer) -> Bool {
    isTooLarge = bytes.count > bodyBytesMax - body.count
    if !isTooLarge { body.append(contentsOf: bytes) }
    return !isTooLarge
  }
}

// The options. Every supported version of libcurl knows them, so these calls fail only without memory.
extension EasyHandle {
  private func set(_ request: HTTPTransferRequest) {
    clibcurl_set_text(pointer, CURLOPT_URL, request.url)
    clibcurl_set_list(pointer, CURLOPT_HTTPHEADER, fields.first)
    if let body = request.body {
      clibcurl_set_long(pointer, CURLOPT_POST, 1)
      clibcurl_set_size(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
      body.withUnsafeBytes { bytes in
        // An empty body also needs a text to copy.
        let text = bytes.bindMemory(to: CChar.self).baseAddress
        withUnsafePointer(to: CChar(0)) { _ = clibcurl_set_text(pointer, CURLOPT_COPYPOSTFIELDS, text ?? $0) }
      }
    } else if request.method == .head {
      clibcurl_set_long(pointer, CURLOPT_NOBODY, 1)
    }
    clibcurl_set_text(pointer, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    clibcurl_set_size(pointer, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(request.bodyBytesMax))
  }

  private func set(_ configuration: HTTPTransferConfiguration, hasUserAgent: Bool) {
    if !hasUserAgent { clibcurl_set_text(pointer, CURLOPT_USERAGENT, configuration.userAgent) }
    switch configuration.trust {
    case .system:
      // libcurl caches a file of authorities for a day, but reads a folder for each connection. On Debian it would read both and
      // cache neither. Reading blocks the reactor for 25 ms.
      if clibcurl_authorities_file() != nil { clibcurl_set_text(pointer, CURLOPT_CAPATH, nil) }
    case .only(var authorities):
      authorities.withUTF8 { bytes in
        _ = clibcurl_set_copied_blob(
          pointer, CURLOPT_CAINFO_BLOB, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
      }
      clibcurl_set_text(pointer, CURLOPT_CAPATH, nil)
    }
  }

  private func setSurroundings() {
    clibcurl_allow_http_only(pointer)
    // Names are resolved before, because libcurl would wait for its resolver when the handle is removed, and block the reactor.
    clibcurl_set_list(pointer, CURLOPT_RESOLVE, resolution.first)
    // No alarms, which belong to the process.
    clibcurl_set_long(pointer, CURLOPT_NOSIGNAL, 1)
    // Ignores the proxies of the environment, which are for other programs.
    clibcurl_set_text(pointer, CURLOPT_PROXY, "")
    clibcurl_set_error_buffer(pointer, errorText)
  }

  private func setVersion(_ multiplexes: Bool) {
    guard multiplexes else {
      // With HTTP/2, libcurl 7.88 reports requests that a GOAWAY left unprocessed as lost, so the caller could not know whether
      // to send them again.
      clibcurl_set_long(pointer, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
      return
    }
    clibcurl_set_long(pointer, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    // Waits until a connection under way shows whether it multiplexes, rather than make another one.
    clibcurl_set_long(pointer, CURLOPT_PIPEWAIT, 1)
  }

  private func setCallbacks() {
    // Not retained: the object leaves the multi handle before it is released, and libcurl calls back only before.
    clibcurl_set_data_callbacks(
      pointer,
      { bytes, size, count, context in
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return easyHandle(context).take(content: bytes) ? bytes.count : 0
      },
      { bytes, size, count, context in
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return easyHandle(context).take(headLine: bytes) ? bytes.count : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

// Sending at most once. There is no option for it.
extension EasyHandle {
  private func setSending() {
    // Not retained: as in `setCallbacks`.
    clibcurl_set_sending_callback(
      pointer,
      { context, _, _, _, _ in easyHandle(context).maySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT },
      Unmanaged.passUnretained(self).toOpaque())
  }

  private func maySend() -> Bool {
    wasStoppedFromResending = wasSent
    wasSent = true
    return !wasStoppedFromResending
  }
}

// The sockets. A kept connection was judged when it was made, by the same client.
extension EasyHandle {
  /// Also without a limited reach: libcurl's own sockets (7.88) stay open in programs that this process starts, and then no end of
  /// a connection reaches the server.
  private func setSocketOpening() {
    // Not retained: as in `setCallbacks`.
    clibcurl_set_open_socket_callback(
      pointer, { context, _, address in easyHandle(context).openSocket(to: address) },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// libcurl then tries the host's next address, if it has one.
  private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
    guard let address, let host = numericHost(of: address), reach.allows(host, isPlain: isPlain) else {
      isWithinReach = isWithinReach ?? false
      return CURL_SOCKET_BAD
    }
    isWithinReach = true
    return clibcurl_open_socket(address)
  }

  private func numericHost(of address: UnsafeMutablePointer<curl_sockaddr>) -> IPAddress? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) {
      clibcurl_numeric_host(address, $0.baseAddress).flatMap { IPAddress(String(cString: $0)) }
    }
  }
}

/// The object that `setCallbacks` passed to libcurl. Not retained, because it lives as long as libcurl works on it.
private func easyHandle(_ context: UnsafeMutableRawPointer?) -> EasyHandle {
  Unmanaged<EasyHandle>.fromOpaque(context!).takeUnretainedValue()
}

extension HTTPTransferRequest {
  /// The header lines. Suppresses libcurl's content type of a form, and its `Expect` before large content.
  fileprivate var fieldLines: [String] {
    // libcurl takes an empty value with a semicolon. A colon would remove the field.
    var lines = fields.map { $0.value.isEmpty ? "\($0.name.rawName);" : "\($0.name.rawName): \($0.value)" }
    if body != nil {
      lines.append("Expect:")
      if fields[.contentType] == nil { lines.append("Content-Type:") }
    }
    return lines
  }
}

extension TransferTarget {
  /// For CURLOPT_RESOLVE. Numeric hosts need none.
  fileprivate func resolution(_ addresses: [SocketAddress]) -> [String] {
    guard IPAddress(host) == nil else { return [] }
    let list = addresses.compactMap { IPAddress($0)?.description }.joined(separator: ",")
    return ["\(host):\(port):\(list)"]
  }
}

/// The one owner of a libcurl list of texts. Must outlive the handle's last transfer.
private final class FieldList {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init(_ lines: [String]) {
    for line in lines {
      guard let longer = curl_slist_append(first, line) else { preconditionFailure("no memory for a list") }
      first = longer
    }
  }

  deinit { curl_slist_free_all(first) }
}

/// The head of an answer, from libcurl's lines.
struct TransferHead {
  /// All lines together. 64 KiB: eight times the limit of most servers. libcurl 7.88 bounds single lines only.
  static let bytesMax = 64 * 1024

  private(set) var fields = HTTPFields()
  private var byteCount = 0
  /// Whether the empty line has arrived.
  private(set) var isComplete = false

  /// Takes one line with its end.
  /// A status line begins a new head, because interim answers (RFC 9110 section 15.2) precede the final one. Lines behind the
  /// empty line are trailers and left out.
  /// - Returns: false when the head is too large.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    byteCount += line.count
    guard byteCount <= Self.bytesMax else { return false }
    let text = String(decoding: line, as: UTF8.self).prefix { $0 != "\r\n" && $0 != "\n" && $0 != "\r" }
    if text.hasPrefix("HTTP/") {
      fields = HTTPFields()
      isComplete = false
    } else if text.isEmpty {
      isComplete = true
    } else if !isComplete {
      takeField(text)
    }
    return true
  }

  private mutating func takeField(_ text: Substring) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { return }
    fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " || $0 == "\t" })))
  }
}
