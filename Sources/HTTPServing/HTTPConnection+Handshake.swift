internal import HTTP1
internal import Logging
internal import Reactors
internal import TLSStreams

extension HTTPConnection {
  /// Goes on making a TLS connection secure; a plain one has begun.
  func shakeHands(on reactor: isolated Reactor) {
    guard case .tls(let stream) = channel.transport.carrier else { return perform(machine.opened(), on: reactor) }
    do throws(TLSError) {
      if let interest = try stream.continueHandshake() { return wait(for: interest, until: deadline, on: reactor) }
    } catch {
      service.logger.debug("TLS handshake failed", metadata: ["peer": "\(peerText)", "error": "\(error)"])
      return leave(on: reactor)
    }
    channel.transport.noteBufferedInput()
    perform(machine.opened(), on: reactor)
  }
}
