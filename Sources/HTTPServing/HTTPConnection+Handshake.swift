internal import Logging
internal import Reactors
internal import TLSStreams

extension HTTPConnection {
  /// Makes a TLS connection secure; nothing to do for a plain one.
  ///
  /// - Returns: false if it cannot be served.
  func shakeHands(on reactor: isolated Reactor) async -> Bool {
    guard case .tls(let stream) = channel.transport.carrier else { return true }
    let deadline = registry.sweeps + registry.clock.handshake
    do throws(TLSError) {
      while let interest = try stream.continueHandshake() {
        var wake = await channel.wait(for: interest, until: deadline, on: reactor)
        // Its client has been told of no end, so it is let in before the connection drains like any other.
        while wake == .drain { wake = await channel.wait(for: interest, until: deadline, on: reactor) }
        guard wake == .ready else { return false }
      }
      channel.transport.noteBufferedInput()
      return true
    } catch {
      service.logger.debug("TLS handshake failed", metadata: ["peer": "\(peerText)", "error": "\(error)"])
      return false
    }
  }
}
