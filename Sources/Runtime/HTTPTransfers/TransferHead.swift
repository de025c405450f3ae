internal import HTTPTypes

/// The head of an answer, from libcurl's lines.
struct TransferHead {
  /// All lines together. 64 KiB: eight times the limit of most servers. libcurl 7.88 bounds single lines only.
  static let bytesMax = 64 * 1024

  private(set) var fields = HTTPFields()
  private var byteCount = 0

  /// Whether the empty line has arrived.
  private(set) var isComplete = false

  /// Takes one line with its end.
  ///
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
