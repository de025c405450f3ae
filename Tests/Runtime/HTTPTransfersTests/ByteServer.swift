import Reactors

/// A server that answers each request's head with the same bytes, on one reactor.
final class ByteServer: ReadinessHandler {
  struct Script: Sendable {
    let answer: String
    /// Whether the connection ends behind the answer.
    var closes = true
  }

  private let socket: ListeningSocket
  private let script: Script
  private var registration: Registration?
  private var peers: [ObjectIdentifier: Peer] = [:]

  var address: SocketAddress { socket.address }

  /// Connections that the clients have not closed.
  var peerCount: Int { peers.count }

  init(_ script: Script, on reactor: isolated Reactor) throws {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure("no address") }
    socket = try ListeningSocket(on: address)
    self.script = script
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
  }

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard case .accepted(let socket, _) = self.socket.accept() else { return }
    let peer = Peer(socket, script) { [unowned self] in peers[ObjectIdentifier($0)] = nil }
    peers[ObjectIdentifier(peer)] = peer
    peer.start(on: reactor)
  }

  private final class Peer: ReadinessHandler {
    private let socket: Socket
    private let script: Script
    private let ended: (Peer) -> Void
    private var registration: Registration?
    private var received: [UInt8] = []

    init(_ socket: Socket, _ script: Script, ended: @escaping (Peer) -> Void) {
      self.socket = socket
      self.script = script
      self.ended = ended
    }

    func start(on reactor: isolated Reactor) {
      registration = try? reactor.register(socket.descriptor, for: .read, handler: self)
    }

    func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): answer(buffer[..<count])
      case .wouldBlock: break
      case .endOfStream, .failed:
        if let registration { reactor.deregister(registration) }
        ended(self)
      }
    }

    private func answer(_ bytes: ArraySlice<UInt8>) {
      received += bytes
      guard received.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
      received = []
      _ = Array(script.answer.utf8).withUnsafeBytes { socket.write($0) }
      if script.closes { socket.shutDownWriting() }
    }
  }
}
