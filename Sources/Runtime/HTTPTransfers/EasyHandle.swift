internal import CLibcurl
internal import HTTPTypes
internal import Reactors

/// The one owner of an easy handle: one request and what has come of its answer.
///
/// libcurl calls back while it runs, on the reactor that called it, and keeps a pointer to this object; so the object
/// outlives its time in the multi handle.
final class EasyHandle {
  let pointer: UnsafeMutableRawPointer
  private let fields: FieldList
  private let resolution: FieldList
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private let bodyBytesMax: Int

  private var head = ResponseHead()
  private var body: [UInt8] = []
  private var isTooLarge = false

  /// Prepares a request.
  /// - Parameter addresses: of the target's host, in the order to try them.
  init(
    _ request: HTTPTransferRequest, to target: TransferTarget, at addresses: [SocketAddress],
    _ configuration: HTTPTransferConfiguration
  ) {
    guard let pointer = curl_easy_init() else { preconditionFailure("no memory for an easy handle") }
    self.pointer = pointer
    bodyBytesMax = request.bodyBytesMax
    fields = FieldList(request.fieldLines)
    resolution = FieldList(target.resolution(addresses))
    errorText[0] = 0
    set(request)
    set(configuration, hasUserAgent: request.fields[.userAgent] != nil)
    setSurroundings()
    setCallbacks()
  }

  deinit {
    curl_easy_cleanup(pointer)
    errorText.deallocate()
  }

  /// The complete answer, once libcurl has said that the transfer is over.
  func result(of code: CURLcode) -> Result<HTTPTransferResponse, HTTPTransferError> {
    if isTooLarge { return .failure(HTTPTransferError(.tooLarge)) }
    guard code == CURLE_OK else { return .failure(HTTPTransferError(code, String(cString: errorText))) }
    // libcurl is content with a status line before the end of the connection.
    guard head.isComplete else { return .failure(HTTPTransferError(.connectionLost, "the head is cut off")) }
    var status = 0
    clibcurl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status)
    guard 200...599 ~= status else { return .failure(HTTPTransferError(.invalidAnswer, "status \(status)")) }
    return .success(
      HTTPTransferResponse(status: HTTPResponse.Status(code: status), fields: head.fields, body: body))
  }

  /// One line of the answer's head.
  /// - Returns: whether to go on.
  func take(headLine line: UnsafeRawBufferPointer) -> Bool {
    isTooLarge = !head.take(line)
    return !isTooLarge
  }

  /// A part of the answer's content.
  /// - Returns: whether to go on.
  func take(content bytes: UnsafeRawBufferPointer) -> Bool {
    isTooLarge = bytes.count > bodyBytesMax - body.count
    if !isTooLarge { body.append(contentsOf: bytes) }
    return !isTooLarge
  }
}

// What libcurl is told. The options are known to every version this builds with, and their values are of their types, so
// that none of these calls can fail but for want of memory.
extension EasyHandle {
  private func set(_ request: HTTPTransferRequest) {
    clibcurl_set_text(pointer, CURLOPT_URL, request.url)
    clibcurl_set_list(pointer, CURLOPT_HTTPHEADER, fields.first)
    if let body = request.body {
      clibcurl_set_long(pointer, CURLOPT_POST, 1)
      clibcurl_set_size(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
      body.withUnsafeBytes { bytes in
        // Also for no bytes at all there has to be a text to copy.
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
    believe(configuration.trust)
  }

  private func believe(_ trust: HTTPTransferTrust) {
    switch trust {
    case .system:
      // libcurl keeps for a day what it has read from one file, and reads a folder anew for each connection. On Debian it
      // would read both and keep neither. Reading takes 25 ms, in which the reactor does nothing else.
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
    // The reactor must not block, and a name is resolved before; without this an answer would still be waited for where
    // the handle is removed.
    clibcurl_set_list(pointer, CURLOPT_RESOLVE, resolution.first)
    // No alarms, which belong to the process.
    clibcurl_set_long(pointer, CURLOPT_NOSIGNAL, 1)
    // What stands in the environment is meant for other programs.
    clibcurl_set_text(pointer, CURLOPT_PROXY, "")
    // A request has its connection to itself: with HTTP/2, libcurl 7.88 reports requests that a GOAWAY left unprocessed
    // as lost, so that nobody could know whether to send them again.
    clibcurl_set_long(pointer, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    clibcurl_set_error_buffer(pointer, errorText)
  }

  private func setCallbacks() {
    // Not retained: this object takes itself out of the multi handle before it goes, and libcurl calls back in between only.
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

/// The handle that `setCallbacks` gave to libcurl, not retained; it lives while libcurl works on it.
private func easyHandle(_ context: UnsafeMutableRawPointer?) -> EasyHandle {
  Unmanaged<EasyHandle>.fromOpaque(context!).takeUnretainedValue()
}

extension HTTPTransferRequest {
  /// libcurl would announce a form, and ask before it sends much, unless it is told not to.
  fileprivate var fieldLines: [String] {
    // An empty value is written with a semicolon; with a colon it would remove the field.
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

/// The head of an answer, from the lines that libcurl passes on.
struct ResponseHead {
  /// All lines together. 64 KiB: eight times what most servers let themselves send, and a bound at all, which libcurl 7.88
  /// has for single lines only.
  static let bytesMax = 64 * 1024

  private(set) var fields = HTTPFields()
  private var byteCount = 0

  /// Whether the empty line has come.
  private(set) var isComplete = false

  /// Takes one line with its end. A status line begins anew, because an interim answer (RFC 9110 section 15.2) comes
  /// before the final one; what comes after the empty line is a trailer and left out.
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

/// The one owner of a list of texts as libcurl takes it. It has to outlive the handle's last transfer.
final class FieldList {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init(_ lines: [String]) {
    for line in lines {
      guard let longer = curl_slist_append(first, line) else { preconditionFailure("no memory for a list") }
      first = longer
    }
  }

  deinit {
    curl_slist_free_all(first)
  }
}
