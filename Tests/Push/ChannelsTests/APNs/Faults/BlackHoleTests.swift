import HTTP2
import PushRules
import Reactors
import Testing

@testable import Channels

@Suite("A black-holed connection")
struct BlackHoleTests {
  private static let pushes = 800

  /// For what the rules give five seconds at most. The rest is for a busy machine; an attempt ends by itself after ten.
  private static let secondsMax = 9.0

  @Test("by the rules a silent connection is given up in less than five seconds")
  func promise() {
    let http2 = APNSConfiguration().http2
    #expect(http2.silenceBeforePing + http2.pingTimeout < .seconds(5))
  }

  @Test("at 100 pushes a second, traffic flows again in seconds, and nothing is lost")
  func underLoad() async throws {
    try await FaultScene.play { scene, reactor in
      let relay = try TCPRelay(to: scene.address, on: reactor)
      let client = try await scene.client(port: relay.port)
      client.warmUp(.production, on: reactor)
      let campaign = Campaign(scene, over: client)
      campaign.start(Self.pushes, every: .milliseconds(10), on: reactor)
      await campaign.finished(200, on: reactor)
      relay.swallow()
      let swallowed = Reactor.now
      await campaign.finished(Self.pushes, on: reactor)
      let tally = FaultTally("black hole at 100 pushes/s", pushes: Self.pushes, of: scene)
      let resumed = try #require(campaign.acceptances.first { $0 > swallowed })
      let seconds = Double(resumed - swallowed) / 1e9
      print("\(tally); traffic flowed again after \(seconds) s")
      #expect(seconds < Self.secondsMax)
      #expect(campaign.acceptances.count == Self.pushes)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      #expect(tally.connections == 2)
      client.close(on: reactor)
      relay.stop(on: reactor)
    }
  }

  @Test("a connection that died while it was idle costs its first pushes no more than that")
  func idle() async throws {
    try await FaultScene.play { scene, reactor in
      let relay = try TCPRelay(to: scene.address, on: reactor)
      let client = try await scene.client(port: relay.port)
      let campaign = Campaign(scene, over: client)
      campaign.start(1, atOnce: 1, on: reactor)
      await campaign.finished(1, on: reactor)
      relay.swallow()
      let start = Reactor.now
      campaign.start(11, atOnce: 10, on: reactor)
      await campaign.finished(11, on: reactor)
      let tally = FaultTally("black hole found by the first pushes", pushes: 11, of: scene)
      let seconds = Double(Reactor.now - start) / 1e9
      print("\(tally); all accepted after \(seconds) s")
      #expect(seconds < Self.secondsMax)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      client.close(on: reactor)
      relay.stop(on: reactor)
    }
  }
}

/// Passes bytes between clients and a server, until it is told to swallow them: then the connections of that moment stay
/// open and carry nothing more, as behind a router that has forgotten them. Connections that come later are passed on.
final class TCPRelay {
  private let server: SocketAddress
  private let listener: ListeningSocket
  private var registration: Registration?
  private var ends: [RelayEnd] = []

  var port: UInt16 { listener.address.port }

  init(to server: SocketAddress, on reactor: isolated Reactor) throws {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      throw SystemError(operation: "relay", code: 0)
    }
    self.server = server
    listener = try ListeningSocket(on: address)
    registration = try reactor.register(listener.descriptor, for: .read, handler: self)
  }

  /// From now on the present connections lead nowhere.
  func swallow() {
    for end in ends { end.isSwallowing = true }
  }

  /// Closes everything.
  func stop(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    for end in ends { end.close(on: reactor) }
    ends = []
  }

  private func join(_ client: Socket, on reactor: isolated Reactor) async {
    do {
      let upstream = try await Socket.connect(to: server, within: .seconds(5), on: reactor)
      let (near, far) = (RelayEnd(client), RelayEnd(upstream))
      try near.start(towards: far, on: reactor)
      try far.start(towards: near, on: reactor)
      ends += [near, far]
    } catch {
      // The client sees its connection closed, as it would without a relay.
    }
  }
}

extension TCPRelay: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    while case .accepted(let client, _) = listener.accept() {
      reactor.start { await self.join(client, on: reactor) }
    }
  }
}

/// One socket of a relayed connection.
private final class RelayEnd: ReadinessHandler {
  private static let chunkBytes = 64 * 1024

  var isSwallowing = false
  private let socket: Socket
  private weak var other: RelayEnd?
  private var registration: Registration?
  /// Bytes for which the socket had no room.
  private var pending: [UInt8] = []

  init(_ socket: Socket) {
    self.socket = socket
  }

  func start(towards other: RelayEnd, on reactor: isolated Reactor) throws {
    self.other = other
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    if readiness.shouldWrite { write([], on: reactor) }
    if readiness.shouldRead { read(on: reactor) }
  }

  private func read(on reactor: isolated Reactor) {
    var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
    let outcome = chunk.withUnsafeMutableBytes { socket.read(into: $0) }
    switch outcome {
    case .bytes(let count) where !isSwallowing: other?.write(chunk[..<count], on: reactor)
    case .bytes, .wouldBlock: break
    case .endOfStream, .failed:
      close(on: reactor)
      if !isSwallowing { other?.socket.shutDownWriting() }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, on reactor: isolated Reactor) {
    pending += bytes
    if case .bytes(let count) = pending.withUnsafeBytes({ socket.write($0) }) { pending.removeFirst(count) }
    if let registration { try? reactor.update(registration, to: pending.isEmpty ? .read : [.read, .write]) }
  }
}
