import Foundation
import Reactors
import Testing

/// One request of a script to the control endpoint, on a connection of its own.
enum ControlClient {
  struct Answer {
    let status: Int
    let body: String

    /// The body as a JSON object; empty when it is none.
    var json: [String: Any] {
      let object = try? JSONSerialization.jsonObject(with: Data(body.utf8))
      return object as? [String: Any] ?? [:]
    }
  }

  static func send(
    _ method: String, _ target: String, _ body: String = "", to address: SocketAddress?, on reactor: isolated Reactor
  ) async throws -> Answer {
    let socket = try await Socket.connect(to: #require(address), within: .seconds(10), on: reactor)
    let request = """
      \(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
      """
    // A fresh connection's buffer has room for any request of these tests.
    #expect(Array(request.utf8).withUnsafeBytes { socket.write($0) } == .bytes(request.utf8.count))
    let text = String(decoding: try await readToEnd(of: socket, on: reactor), as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    return Answer(status: Int(text.dropFirst(9).prefix(3)) ?? 0, body: parts.dropFirst().joined())
  }

  private static func readToEnd(of socket: Socket, on reactor: isolated Reactor) async throws -> [UInt8] {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): received += buffer[..<count]
      case .endOfStream: return received
      case .wouldBlock: _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(20))
      case .failed(let error): throw error
      }
    }
  }
}
