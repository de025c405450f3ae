internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Reactors
internal import TLSStreams

extension HTTPConnection {
  /// What is said to a peer that speaks HTTP where TLS is expected.
  private static let tlsExpected = ProblemDetails(
    .badRequest, detail: "This port expects TLS: use the scheme https."
  ).response.prepared

  /// Waits for the peer's first byte before it takes memory for TLS.
  func awaitHandshake(on reactor: isolated Reactor) {
    let time = admission == .reserved ? registry.clock.reserve : registry.clock.handshake
    wait(for: .read, until: registry.sweeps + time, on: reactor)
  }

  /// Goes on making the connection secure.
  func shakeHands(on reactor: isolated Reactor) {
    do throws(TLSError) {
      guard let stream = try stream(on: reactor) else { return }
      if let interest = try stream.continueHandshake() { return wait(for: interest, until: deadline, on: reactor) }
    } catch {
      registry.counters.noteFailedHandshake()
      service.logger.debug("TLS handshake failed", metadata: ["peer": "\(peerText)", "error": "\(error)"])
      return leave(on: reactor)
    }
    channel.transport.noteBufferedInput()
    perform(machine.opened(), on: reactor)
  }

  /// TLS over the socket; nil for a peer that has left or speaks something else, which is then dealt with.
  private func stream(on reactor: isolated Reactor) throws(TLSError) -> TLSStream? {
    switch channel.transport.carrier {
    case .tls(let stream): return stream
    case .plain(let socket):
      guard let tls, let first = socket.peek() else {
        leave(on: reactor)
        return nil
      }
      guard Self.isTLS(first) else {
        refusePlain(on: reactor)
        return nil
      }
      return try channel.transport.secure(socket, with: tls)
    }
  }

  /// A record of a handshake begins with 22 (RFC 8446 section 5.1), the hello of an SSL 2 client with the highest bit. A
  /// method of HTTP begins with neither.
  private static func isTLS(_ first: UInt8) -> Bool { first == 22 || first >= 0x80 }

  private func refusePlain(on reactor: isolated Reactor) {
    registry.counters.noteFailedHandshake()
    registry.counters.noteResponse(Self.tlsExpected.status.code)
    service.logger.debug("plain HTTP where TLS is expected", metadata: ["peer": "\(peerText)"])
    let bytes = Self.tlsExpected.bytes(date: registry.currentDate())
    // A new connection has room for it.
    _ = bytes.withUnsafeBytes { channel.transport.write($0) }
    beginLinger(on: reactor)
  }
}
