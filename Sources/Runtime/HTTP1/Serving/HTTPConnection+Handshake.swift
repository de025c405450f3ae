internal import HTTPTypes
internal import Logging
internal import Reactors

extension HTTPConnection {
  private static let tlsExpected = ProblemDetails(
    .badRequest, detail: "This port expects TLS: use the scheme https."
  ).response.prepared

  /// Waits for the peer's first byte before it allocates memory for TLS.
  func awaitHandshake(on reactor: isolated Reactor) {
    let time = admission == .reserved ? registry.clock.reserve : registry.clock.handshake
    wait(for: .read, until: registry.sweeps + time, on: reactor)
  }

  func shakeHands(on reactor: isolated Reactor) {
    do throws(TLSError) {
      guard let stream = try stream(on: reactor) else { return }
      if let interest = try stream.continueHandshake() { return wait(for: interest, until: deadline, on: reactor) }
    } catch {
      registry.counters.countFailedHandshake()
      service.logger.debug("TLS handshake failed", metadata: ["peer": "\(peerText)", "error": "\(error)"])
      return leave(on: reactor)
    }
    channel.handshakeEnded()
    perform(machine.opened(), on: reactor)
  }

  /// TLS over the socket. Nil for a peer that has left or speaks plain HTTP; the connection then ends.
  private func stream(on reactor: isolated Reactor) throws(TLSError) -> TLSStream? {
    switch channel.carrier {
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
      return try channel.secure(socket, with: tls)
    }
  }

  /// A handshake record begins with 22 (RFC 8446 section 5.1), and the hello of an SSL 2 client with the highest bit set. An
  /// HTTP method begins with neither.
  private static func isTLS(_ first: UInt8) -> Bool { first == 22 || first >= 0x80 }

  private func refusePlain(on reactor: isolated Reactor) {
    registry.counters.countFailedHandshake()
    registry.counters.countResponse(Self.tlsExpected.status.code)
    service.logger.debug("plain HTTP where TLS is expected", metadata: ["peer": "\(peerText)"])
    let bytes = Self.tlsExpected.bytes(date: registry.currentDate())
    // A new connection has room for it.
    _ = bytes.withUnsafeBytes { channel.write($0) }
    beginLinger(on: reactor)
  }
}
