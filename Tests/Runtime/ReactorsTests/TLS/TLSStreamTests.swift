import Reactors
import TestReactors
import Testing

@Suite("TLS streams")
struct TLSStreamTests {
  @Test("bytes travel both ways, and close_notify is the end of the stream")
  func roundTrip() async throws {
    try await onReactor { reactor in
      let (client, server) = try await connectedPair(on: reactor)
      #expect(write(client, "ping") == .bytes(4))
      #expect(try await read(server, on: reactor) == "ping")
      #expect(write(server, "pong") == .bytes(4))
      #expect(try await read(client, on: reactor) == "pong")
      client.shutDown()
      #expect(try await read(server, on: reactor) == nil)
    }
  }

  @Test("a connection that ends without close_notify is not an orderly end")
  func truncation() async throws {
    try await onReactor { reactor in
      var (client, server): (TLSStream?, TLSStream) = try await connectedPair(on: reactor)
      _ = client.map { write($0, "half a mes") }
      client = nil
      #expect(try await read(server, on: reactor) == "half a mes")
      await #expect {
        _ = try await read(server, on: reactor)
      } throws: { ($0 as? TLSError)?.code == .unexpectedEnd }
    }
  }

  @Test("a write is taken record by record until the socket is full, and resumes with the same bytes")
  func backPressure() async throws {
    try await onReactor { reactor in
      let (client, server) = try await connectedPair(on: reactor)
      let message = [UInt8](unsafeUninitializedCapacity: 8 << 20) { buffer, count in
        for index in 0..<buffer.count { buffer[index] = UInt8(truncatingIfNeeded: index &* 31 >> 7) }
        count = buffer.count
      }
      let received = try await transfer(message, from: client, to: server, on: reactor)
      #expect(received.bytes == message)
      // A record that had to wait, and the next one.
      #expect(received.largestWrite <= 32 * 1024)
      #expect(received.timesFull > 0)
    }
  }

  @Test("an empty write takes nothing and fails nothing")
  func emptyWrite() async throws {
    try await onReactor { reactor in
      let (client, _) = try await connectedPair(on: reactor)
      #expect(write(client, "") == .bytes(0))
    }
  }

  @Test("a write after the peer is gone fails, and does not kill the process")
  func brokenPipe() async throws {
    try await onReactor { reactor in
      var (client, server): (TLSStream, TLSStream?) = try await connectedPair(on: reactor)
      server = nil
      _ = server
      _ = try await reactor.waitForReadiness(of: client.descriptor, .read, for: .seconds(5))
      var outcome = TLSWriteOutcome.bytes(0)
      while case .bytes = outcome { outcome = write(client, "anybody there?") }
      guard case .failed(let error) = outcome else { throw TestFailure() }
      #expect(error.code == .connectionLost)
      #expect(error.system != nil)
    }
  }
}

private func connectedPair(on reactor: isolated Reactor) async throws -> (TLSStream, TLSStream) {
  let trust = try TestTrust()
  let hands = try await shakeHands(try trust.client(), try trust.server(), on: reactor)
  return (try hands.client.get(), try hands.server.get())
}

private func write(_ stream: TLSStream, _ text: String) -> TLSWriteOutcome {
  Array(text.utf8).withUnsafeBytes { stream.write($0) }
}

/// The next piece, nil at the end of the stream.
private func read(_ stream: TLSStream, on reactor: isolated Reactor) async throws -> String? {
  var buffer = [UInt8](repeating: 0, count: 16 * 1024)
  while true {
    switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
    case .bytes(let count): return String(decoding: buffer.prefix(count), as: UTF8.self)
    case .endOfStream: return nil
    case .failed(let error): throw error
    case .wouldBlock(let interest):
      guard try await reactor.waitForReadiness(of: stream.descriptor, interest, for: .seconds(5)) != nil else {
        throw TestFailure()
      }
    }
  }
}

private struct Transfer {
  var bytes: [UInt8] = []
  var largestWrite = 0
  var timesFull = 0
}

/// Writes until the socket is full, reads until it is empty, and so on.
private func transfer(
  _ message: [UInt8], from client: TLSStream, to server: TLSStream, on reactor: isolated Reactor
) async throws -> Transfer {
  var transfer = Transfer()
  var sent = 0
  var buffer = [UInt8](repeating: 0, count: 16 * 1024)
  while transfer.bytes.count < message.count {
    writing: while sent < message.count {
      switch message[sent...].withUnsafeBytes({ client.write($0) }) {
      case .bytes(let count):
        transfer.largestWrite = max(transfer.largestWrite, count)
        sent += count
      case .wouldBlock:
        transfer.timesFull += 1
        break writing
      case .failed(let error): throw error
      }
    }
    _ = try await reactor.waitForReadiness(of: server.descriptor, .read, for: .seconds(5))
    reading: while true {
      switch buffer.withUnsafeMutableBytes({ server.read(into: $0) }) {
      case .bytes(let count): transfer.bytes += buffer.prefix(count)
      case .wouldBlock: break reading
      case .endOfStream: throw TestFailure()
      case .failed(let error): throw error
      }
    }
  }
  return transfer
}
