/// Reads the answers on a connection as a client would: by their framing alone.
struct ResponseReader {
  struct Response: Equatable {
    let status: Int
    let isClosing: Bool
    let body: [UInt8]
  }

  private var text: Substring.UTF8View

  /// - Parameter isHead: for each final answer in order, whether it has no content whatever its length says.
  /// - Returns: the answers, interim ones too; `nil` if they are not framed, or if bytes are left over.
  static func responses(in bytes: [UInt8], isHead: [Bool]) -> [Response]? {
    var reader = ResponseReader(text: String(decoding: bytes, as: UTF8.self)[...].utf8)
    var responses: [Response] = []
    var finals = 0
    while !reader.text.isEmpty {
      let omitsBody = finals < isHead.count && isHead[finals]
      guard let response = reader.response(omitsBody: omitsBody) else { return nil }
      responses.append(response)
      if response.status >= 200 { finals += 1 }
    }
    return responses
  }

  private mutating func response(omitsBody: Bool) -> Response? {
    guard let first = line(), first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3)) else {
      return nil
    }
    var length: Int?
    var isClosing = false
    while let field = line() {
      if field == "Connection: close" { isClosing = true }
      if field.hasPrefix("Content-Length: ") { length = Int(field.dropFirst(16)) }
      guard field.isEmpty else { continue }
      let count = status < 200 || omitsBody ? 0 : length ?? -1
      guard (0...text.count).contains(count) else { return nil }
      defer { text = text.dropFirst(count) }
      return Response(status: status, isClosing: isClosing, body: Array(text.prefix(count)))
    }
    return nil
  }

  private mutating func line() -> Substring? {
    guard let end = text.firstIndex(of: 0x0a) else { return nil }
    let line = text[..<end]
    text = text[text.index(after: end)...]
    guard line.last == 0x0d else { return nil }
    return Substring(line.dropLast())
  }
}
