import Reactors

@testable import HTTP1

/// An authority, and what a service and its clients need of it.
struct TestIdentity {
  let authority: CertificateAuthority

  init() throws { authority = try CertificateAuthority(name: "HTTP test authority") }

  /// As the service makes its own.
  func server() throws -> TLSContext {
    let identity = try authority.issue(for: ["127.0.0.1"])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["http/1.1"],
      requiresProtocol: false, releasesIdleBuffers: true)
  }

  func client(protocols: [String] = ["http/1.1"]) throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: protocols)
  }
}

/// A client's connection over TLS, for use on one reactor.
final class TLSClient {
  let stream: TLSStream

  init(_ address: SocketAddress, _ context: TLSContext, on reactor: isolated Reactor) async throws {
    let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
    stream = try await TLSStream.connect(
      over: socket, host: "127.0.0.1", context: context, within: .seconds(10), on: reactor)
  }

  func send(_ bytes: [UInt8], on reactor: isolated Reactor) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ stream.write($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock(let interest): try await wait(interest, on: reactor)
      case .failed(let error): throw error
      }
    }
  }

  /// Everything up to the server's `close_notify`, or until it ends with a text.
  func read(until end: String? = nil, on reactor: isolated Reactor) async throws -> String {
    var all = ""
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while end.map({ !all.hasSuffix($0) }) ?? true {
      switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
      case .bytes(let count): all += String(decoding: buffer[..<count], as: UTF8.self)
      case .wouldBlock(let interest): try await wait(interest, on: reactor)
      case .endOfStream: return all
      case .failed(let error): throw error
      }
    }
    return all
  }

  private func wait(_ interest: Interest, on reactor: isolated Reactor) async throws {
    guard try await reactor.waitForReadiness(of: stream.descriptor, interest, for: .seconds(10)) != nil else {
      throw HandlerFailure()
    }
  }
}
