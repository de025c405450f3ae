internal import Reactors
internal import TLSStreams

extension Link: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    // Of a peer that has closed, everything is read now: no more requests are to be handed to a dead connection.
    let isClosing = !readiness.isDisjoint(with: [.peerClosed, .hungUp, .failed])
    if readiness.shouldRead || readsWhenWritable { read(toEnd: isClosing, on: reactor) }
    if readiness.shouldWrite { flushAtTickEnd(on: reactor) }
  }

  private func read(toEnd: Bool, on reactor: isolated Reactor) {
    let error = feedSession(toEnd: toEnd)
    owner?.linkDidRead(on: reactor)
    if let error { return end(error, on: reactor) }
    flushAtTickEnd(on: reactor)
  }

  /// Reads until the socket has no more, or the peer's share of this tick is used up.
  /// - Parameter toEnd: asks the socket again when nothing is buffered, to see the end of the stream behind the data.
  func feedSession(toEnd: Bool) -> HTTP2Error? {
    readsWhenWritable = false
    guard let stream else { return nil }
    for _ in 0..<Link.recordsPerReadMax {
      switch stream.read(into: input) {
      case .bytes(let count):
        do throws(HTTP2Error) {
          try session.receive(UnsafeRawBufferPointer(rebasing: input[..<count]))
        } catch {
          return error
        }
        if !toEnd && !stream.hasBufferedInput { return nil }
      case .wouldBlock(let interest):
        readsWhenWritable = interest == .write
        return nil
      case .endOfStream: return .closedByPeer
      case .failed(let error): return .transport(error)
      }
    }
    // The kernel does not report what TLS has already taken; being writable is reported in the next tick.
    readsWhenWritable = true
    return nil
  }
}
