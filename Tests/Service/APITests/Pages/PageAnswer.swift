import Foundation
import Glibc
import TestProcesses
import Testing

/// What a service answered, taken apart.
struct PageAnswer {
  let status: Int
  /// Names in lower case.
  let fields: [String: String]
  let body: String

  /// One request on a connection of its own, read to the end.
  static func ask(
    _ method: String, _ path: String, _ fields: [String: String], _ body: String, port: UInt16
  ) async throws -> PageAnswer {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    if method == "POST" { text += "Content-Length: \(body.utf8.count)\r\n" }
    let request = Array((text + "\r\n" + body).utf8)
    return try await onOwnThread { try PageAnswer(exchange(request, port: port)) }
  }

  private init(_ text: String) throws {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    var lines = try #require(parts.first).split(separator: "\r\n")
    status = try #require(Int(lines.removeFirst().split(separator: " ")[1]))
    var fields: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    self.fields = fields
    body = String(try #require(parts.last))
  }

  private static func exchange(_ request: [UInt8], port: UInt16) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    try #require(inet_pton(AF_INET, "127.0.0.1", &address.sin_addr) == 1)
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
    }
    try #require(isConnected && write(descriptor, request, request.count) == request.count, "errno \(errno)")
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
