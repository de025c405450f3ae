internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Reactors

extension HTTPConnection {
  /// What a lingering peer may still send; a flood is cut off.
  ///
  /// 256 KiB: what a fast client has already on its way when it is refused.
  private static let lingeringBytesMax = 256 * 1024

  func close(_ reason: CloseReason, on reactor: isolated Reactor) {
    if case .refused(let refusal) = reason {
      registry.counters.noteResponse(refusal.status.code, of: timed.take()?.route)
      service.logger.debug("request refused", metadata: ["reason": "\(refusal)", "peer": "\(peerText)"])
    }
    let next = reason.lingers ? Next.linger : .leave
    if send(then: next, on: reactor) { proceed(to: next, on: reactor) }
  }

  /// Whom the log names.
  var peerText: String { peer?.description ?? "unix" }

  /// Closes at once. A handler that is running keeps its task, and its answer goes nowhere.
  func leave(on reactor: isolated Reactor) {
    if case .closed = phase { return }
    phase = .closed
    endRequest()
    uncountBytes()
    channel.transport.prepareToClose()
    channel.close(on: reactor)
    registry.remove(self, on: reactor)
    service.census.leave(isProxy ? nil : peer, admission)
  }

  /// Reads on after the last answer: closing with unread bytes would reset the connection, and a reset can destroy the
  /// answer before the peer has read it (RFC 9112 section 9.6).
  func beginLinger(on reactor: isolated Reactor) {
    deadline = registry.sweeps + registry.clock.linger
    phase = .finishing
    finish(on: reactor)
  }

  /// Tells the peer that nothing more will be written.
  func finish(on reactor: isolated Reactor) {
    if let interest = channel.transport.shutDownWriting() { return wait(for: interest, until: deadline, on: reactor) }
    phase = .lingering(bytesLeft: Self.lingeringBytesMax)
    guard !channel.transport.hasBufferedInput else { return linger(Self.lingeringBytesMax, on: reactor) }
    wait(for: channel.transport.readInterest, until: deadline, on: reactor)
  }

  /// Throws away what has come.
  func linger(_ bytesLeft: Int, on reactor: isolated Reactor) {
    var bytesLeft = bytesLeft
    repeat {
      guard let count = discard() else { return leave(on: reactor) }
      bytesLeft -= count
    } while bytesLeft > 0 && channel.transport.hasBufferedInput
    guard bytesLeft > 0 else { return leave(on: reactor) }
    phase = .lingering(bytesLeft: bytesLeft)
    wait(for: channel.transport.readInterest, until: deadline, on: reactor)
  }

  /// - Returns: how many bytes were thrown away; `nil` at the end.
  private func discard() -> Int? {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { space in
      switch channel.transport.read(into: space) {
      case .bytes(let count): count
      case .wouldBlock: 0
      case .endOfStream, .failed: nil
      }
    }
  }
}
