internal import HTTPTypes
internal import Logging
internal import Reactors

extension HTTPConnection {
  /// Bytes that a lingering peer may still send before the close.
  ///
  /// 256 KiB: a fast client has as much on its way when it is refused.
  private static let lingeringBytesMax = 256 * 1024

  func close(_ reason: CloseReason, on reactor: isolated Reactor) {
    if case .refused(let refusal) = reason {
      registry.counters.countResponse(refusal.status.code, of: timed.take()?.route)
      service.logger.debug("request refused", metadata: ["reason": "\(refusal)", "peer": "\(peerText)"])
    }
    let next = reason.lingers ? Next.linger : .leave
    if send(then: next, on: reactor) { proceed(to: next, on: reactor) }
  }

  /// The peer in log lines.
  var peerText: String { peer?.description ?? "unix" }

  /// Closes at once. A running handler keeps its task, and its answer is dropped.
  func leave(on reactor: isolated Reactor) {
    if case .closed = phase { return }
    phase = .closed
    endRequest()
    uncountBytes()
    channel.prepareToClose()
    channel.close(on: reactor)
    registry.remove(self, on: reactor)
    service.census.leave(isProxy ? nil : peer, admission)
  }

  /// Reads on after the last answer. Closing with unread bytes would reset the connection, which can destroy the answer before
  /// the peer reads it (RFC 9112 section 9.6).
  func beginLinger(on reactor: isolated Reactor) {
    deadline = registry.sweeps + registry.clock.linger
    phase = .finishing
    finish(on: reactor)
  }

  /// Ends the stream for the peer.
  func finish(on reactor: isolated Reactor) {
    if let interest = channel.shutDownWriting() { return wait(for: interest, until: deadline, on: reactor) }
    phase = .lingering(bytesLeft: Self.lingeringBytesMax)
    guard !channel.hasBufferedInput else { return linger(Self.lingeringBytesMax, on: reactor) }
    wait(for: channel.readInterest, until: deadline, on: reactor)
  }

  func linger(_ bytesLeft: Int, on reactor: isolated Reactor) {
    var bytesLeft = bytesLeft
    repeat {
      guard let count = discard() else { return leave(on: reactor) }
      bytesLeft -= count
    } while bytesLeft > 0 && channel.hasBufferedInput
    guard bytesLeft > 0 else { return leave(on: reactor) }
    phase = .lingering(bytesLeft: bytesLeft)
    wait(for: channel.readInterest, until: deadline, on: reactor)
  }

  /// - Returns: the number of bytes discarded; nil at the end of the stream.
  private func discard() -> Int? {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { space in
      switch channel.read(into: space) {
      case .bytes(let count): count
      case .wouldBlock: 0
      case .endOfStream, .failed: nil
      }
    }
  }
}
