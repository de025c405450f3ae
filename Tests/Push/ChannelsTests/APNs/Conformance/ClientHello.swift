import Channels
import PushRules
import Reactors

/// The first message of a TLS handshake, as bytes (RFC 8446 §4.1.2).
struct ClientHello {
  /// The contents of `supported_versions`.
  let versions: [UInt16]
  /// The contents of the ALPN extension.
  let protocols: [String]

  /// One that knows no version above 1.1, with a cipher suite of its time.
  static let version11: [UInt8] = {
    let body: [UInt8] =
      [3, 2] + (0..<32).map { UInt8($0) } + [0, 0, 2, 0xc0, 0x09, 1, 0]
    let message = [1, 0, 0, UInt8(body.count)] + body
    return [22, 3, 1, 0, UInt8(message.count)] + message
  }()

  /// What a server answers to a first message, until it closes.
  static func answer(to hello: [UInt8], port: UInt16, on reactor: isolated Reactor) async throws -> [UInt8] {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else { throw CaseFailure("no address") }
    let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
    guard case .bytes(hello.count) = hello.withUnsafeBytes({ socket.write($0) }) else {
      throw CaseFailure("a fresh socket takes no bytes")
    }
    var answer: [UInt8] = []
    while let part = try await read(from: socket, on: reactor) { answer += part }
    return answer
  }

  /// What our client sends first, to a listener that only looks.
  static func sent(byClientOf stand: Stand, on reactor: isolated Reactor) async throws -> ClientHello {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw CaseFailure("no address") }
    let listener = try ListeningSocket(on: address)
    let client = try await stand.client(port: listener.address.port, on: reactor)
    client.warmUp(.production, on: reactor)
    _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(10))
    guard case .accepted(let socket, _) = listener.accept() else { throw CaseFailure("our client does not connect") }
    var bytes: [UInt8] = []
    while bytes.count < 5 || bytes.count < 5 + Int(bytes[3]) << 8 + Int(bytes[4]) {
      guard let part = try await read(from: socket, on: reactor) else { throw CaseFailure("half a hello") }
      bytes += part
    }
    client.close(on: reactor)
    return ClientHello(record: bytes)
  }

  private static func read(from socket: Socket, on reactor: isolated Reactor) async throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): return Array(buffer[..<count])
      case .endOfStream: return nil
      case .failed(let error): throw error
      case .wouldBlock: _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(10))
      }
    }
  }

  /// Behind record and message heads: version, random, session id, cipher suites, compression, extensions.
  private init(record: [UInt8]) {
    var rest = record.dropFirst(5 + 4 + 2 + 32)
    rest = rest.dropFirst(1 + Int(rest.first ?? 0))
    rest = rest.dropFirst(2 + Self.number(rest))
    rest = rest.dropFirst(1 + Int(rest.first ?? 0)).dropFirst(2)
    var versions: [UInt16] = []
    var protocols: [String] = []
    while rest.count >= 4 {
      let size = Self.number(rest.dropFirst(2))
      var content = rest.dropFirst(4).prefix(size)
      switch Self.number(rest) {
      case 43:
        content = content.dropFirst()
        while content.count >= 2 {
          versions.append(UInt16(Self.number(content)))
          content = content.dropFirst(2)
        }
      case 16:
        content = content.dropFirst(2)
        while let length = content.first {
          protocols.append(String(decoding: content.dropFirst().prefix(Int(length)), as: UTF8.self))
          content = content.dropFirst(1 + Int(length))
        }
      default: break
      }
      rest = rest.dropFirst(4 + size)
    }
    (self.versions, self.protocols) = (versions, protocols)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
  }
}
