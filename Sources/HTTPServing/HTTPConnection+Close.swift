internal import HTTP1
internal import Logging
internal import Reactors

extension HTTPConnection {
  /// What a lingering peer may still send; a flood is cut off.
  ///
  /// 256 KiB: what a fast client has already on its way when it is refused.
  private static let lingeringBytesMax = 256 * 1024

  func close(_ reason: CloseReason, _ machine: inout ConnectionStateMachine, on reactor: isolated Reactor) async {
    if case .refused(let refusal) = reason {
      service.logger.debug("request refused", metadata: ["reason": "\(refusal)", "peer": "\(peerText)"])
    }
    if await flush(&machine, on: reactor), reason.lingers { await linger(on: reactor) }
    leave(on: reactor)
  }

  /// Whom the log names.
  var peerText: String { peer?.description ?? "unix" }

  /// Closes at once.
  func leave(on reactor: isolated Reactor) {
    endRequest()
    channel.transport.prepareToClose()
    channel.close(on: reactor)
    registry.remove(channel, on: reactor)
  }

  /// Reads on after the last answer: closing with unread bytes would reset the connection, and a reset can destroy the
  /// answer before the peer has read it (RFC 9112 section 9.6).
  private func linger(on reactor: isolated Reactor) async {
    let deadline = registry.sweeps + registry.clock.linger
    guard await shutDownWriting(until: deadline, on: reactor) else { return }
    var remaining = Self.lingeringBytesMax
    while remaining > 0 {
      if !channel.transport.hasBufferedInput {
        switch await channel.wait(for: channel.transport.readInterest, until: deadline, on: reactor) {
        case .drain: continue
        case .deadline, .abort: return
        case .ready: break
        }
      }
      guard let count = discard() else { return }
      remaining -= count
    }
  }

  /// - Returns: false if the peer took too long to accept what went before.
  private func shutDownWriting(until deadline: Int, on reactor: isolated Reactor) async -> Bool {
    while let interest = channel.transport.shutDownWriting() {
      switch await channel.wait(for: interest, until: deadline, on: reactor) {
      case .ready, .drain: continue
      case .deadline, .abort: return false
      }
    }
    return true
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
