/// A second reader of requests, written naively and without any thought of safety, in two tempers.
///
/// The plain one takes the grammar at its word; the lenient one forgives what servers have been known to forgive: a bare
/// LF as line end, blanks before colons, folded lines, the last of several lengths, any coding that contains the word
/// chunked, numbers with something behind them. A request that one of them reads differently from the machine must have
/// been refused by the machine.
struct ReferenceReader {
  struct Request: Equatable {
    var method: [UInt8] = []
    var target: [UInt8] = []
    var fields: [[UInt8]] = []
    /// `nil` if it is not complete.
    var body: [UInt8]?
  }

  private let bytes: [UInt8]
  private let isLenient: Bool
  private var index = 0

  /// Reads as many requests as it can.
  static func requests(in bytes: [UInt8], isLenient: Bool) -> [Request] {
    var reader = ReferenceReader(bytes: bytes, isLenient: isLenient)
    var requests: [Request] = []
    while let request = reader.request() {
      requests.append(request)
      guard request.body != nil else { break }
    }
    return requests
  }

  private init(bytes: [UInt8], isLenient: Bool) {
    self.bytes = bytes
    self.isLenient = isLenient
  }

  private mutating func request() -> Request? {
    guard var first = line() else { return nil }
    while first.isEmpty {
      guard let next = line() else { return nil }
      first = next
    }
    let parts = first.split(omittingEmptySubsequences: isLenient) { $0 == 0x20 || isLenient && Self.isBlank($0) }
    guard parts.count >= 3, let fields = fieldLines() else { return nil }
    var request = Request(method: Array(parts[0]), target: Array(parts[1]))
    request.fields = fields.flatMap { [$0.name, $0.value] }
    request.body = body(fields)
    return request
  }

  // Lines.

  private mutating func line() -> [UInt8]? {
    let start = index
    while index < bytes.count {
      index += 1
      guard bytes[index - 1] == 0x0a else { continue }
      let end = index - 1
      if isLenient { return Array(bytes[start..<end].reversed().drop { $0 == 0x0d }.reversed()) }
      if end > start, bytes[end - 1] == 0x0d { return Array(bytes[start..<end - 1]) }
    }
    return nil
  }

  /// Lines up to an empty one, as lower-case names and trimmed values.
  private mutating func fieldLines() -> [(name: [UInt8], value: [UInt8])]? {
    var fields: [(name: [UInt8], value: [UInt8])] = []
    while let line = line() {
      if line.isEmpty { return fields }
      if isLenient, Self.isBlank(line[0]), !fields.isEmpty {
        fields[fields.count - 1].value += [0x20] + Self.trim(line[...])
        continue
      }
      let colon = line.firstIndex(of: 0x3a) ?? line.count
      let name = isLenient ? Self.trim(line[..<colon]) : Array(line[..<colon])
      fields.append((Self.lowercase(name), Self.trim(line[min(colon + 1, line.count)...])))
    }
    return nil
  }

  // Content.

  private mutating func body(_ fields: [(name: [UInt8], value: [UInt8])]) -> [UInt8]? {
    let coding = fields.last { $0.name == Array("transfer-encoding".utf8) }?.value
    let lengths = fields.filter { $0.name == Array("content-length".utf8) }.map(\.value)
    let coded = coding.map { String(decoding: Self.lowercase($0), as: UTF8.self) } ?? ""
    if isLenient ? coded.contains("chunked") : coded == "chunked" && lengths.isEmpty { return chunks() }
    guard let length = isLenient ? lengths.last : lengths.first else { return [] }
    guard let count = number(length, radix: 10), count <= bytes.count - index else { return nil }
    index += count
    return Array(bytes[index - count..<index])
  }

  private mutating func chunks() -> [UInt8]? {
    var body: [UInt8] = []
    while let line = line() {
      let size = isLenient ? Self.trim(line[...])[...] : line.prefix { $0 != 0x3b }
      guard let count = number(Self.trim(size), radix: 16) else { return nil }
      guard count > 0 else { return fieldLines() == nil ? nil : body }
      guard count <= bytes.count - index else { return nil }
      body += bytes[index..<index + count]
      index += count
      guard let end = self.line(), isLenient || end.isEmpty else { return nil }
    }
    return nil
  }

  /// The lenient reader stops at the first character that is no digit; the plain one wants nothing but digits.
  private func number(_ text: [UInt8], radix: Int) -> Int? {
    let digits = text.prefix(while: Self.isHex)
    guard isLenient || digits.count == text.count else { return nil }
    return Int(String(decoding: digits, as: UTF8.self), radix: radix)
  }

  private static func isHex(_ byte: UInt8) -> Bool { Character(UnicodeScalar(byte)).isHexDigit }
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
  private static func lowercase(_ text: [UInt8]) -> [UInt8] {
    text.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }
  }
  private static func trim(_ text: ArraySlice<UInt8>) -> [UInt8] {
    Array(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}

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
