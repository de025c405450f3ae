import FoundationEssentials
import Glibc
import Reactors

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// What a service answered, taken apart.
struct PlainResponse {
  let status: Int
  /// Names in lower case.
  let fields: [String: String]
  let body: String

  init(_ text: String) throws {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw TestFailure("no header in: \(text)") }
    var lines = parts[0].split(separator: "\r\n")
    let words = lines.removeFirst().split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { throw TestFailure("no status in: \(text)") }
    self.status = status
    var fields: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts.last.map { $0.trimmingPrefix(" ") }.map(String.init)
    }
    self.fields = fields
    body = String(parts[1])
  }

  /// The body as JSON of this shape.
  func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(body.utf8))
  }
}

/// The simplest HTTP client there is: one request, one connection, read to the end.
enum PlainClient {
  static func ask(
    _ method: String, _ path: String, fields: [String: String] = [:], body: String = "", port: UInt16
  ) async throws -> PlainResponse {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
    return try await exchange(Array((text + "\r\n" + body).utf8), port: port)
  }

  private static func exchange(_ request: [UInt8], port: UInt16) async throws -> PlainResponse {
    // Blocks a thread of the pool, which no reactor runs on.
    try await Task.detached {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      guard inet_pton(AF_INET, "127.0.0.1", &address.sin_addr) == 1 else { throw TestFailure("no address") }
      let isConnected = withUnsafeBytes(of: &address) { bytes in
        connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
      }
      guard isConnected, write(descriptor, request, request.count) == request.count else {
        throw TestFailure("cannot ask: errno \(errno)")
      }
      return try PlainResponse(String(decoding: readToEnd(descriptor), as: UTF8.self))
    }.value
  }

  private static func readToEnd(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}
