internal import HTTP1
internal import Reactors

// Input and output.

extension HTTPConnection {
  /// - Returns: the close of a connection that ends here; `nil` to wait for the peer.
  func prepareToRead(_ stretch: ReadStretch, _ machine: inout ConnectionStateMachine) -> ConnectionAction? {
    if channel.isDraining, let close = machine.drainRequested() { return close }
    begin(stretch)
    return nil
  }

  func read(
    _ stretch: ReadStretch, after wake: ConnectionChannel.Wake, _ machine: inout ConnectionStateMachine
  ) -> ConnectionAction {
    machine.date = registry.currentDate()
    return switch wake {
    case .ready: receive(stretch, &machine)
    case .deadline: machine.deadlinePassed()
    case .drain: .read(stretch)
    case .abort: .close(.drained)
    }
  }

  private func receive(_ stretch: ReadStretch, _ machine: inout ConnectionStateMachine) -> ConnectionAction {
    var outcome = ReadOutcome.wouldBlock
    _ = machine.receive { space in
      outcome = channel.socket.read(into: space)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return switch outcome {
    case .bytes: machine.received()
    case .wouldBlock: .read(stretch)
    case .endOfStream: machine.peerClosed()
    case .failed: .close(.peerClosed)
    }
  }

  /// Tries one write, which usually takes everything.
  ///
  /// - Returns: whether nothing is left.
  func sendAtOnce(_ machine: inout ConnectionStateMachine) -> Bool {
    if !machine.output.isEmpty { _ = write(&machine) }
    return machine.output.isEmpty
  }

  /// Sends all that waits.
  ///
  /// - Returns: false if the peer took too long or is gone.
  func flush(_ machine: inout ConnectionStateMachine, on reactor: isolated Reactor) async -> Bool {
    let deadline = registry.sweeps + registry.deadlines.write
    while !machine.output.isEmpty {
      switch write(&machine) {
      case .bytes: continue
      case .failed: return false
      case .wouldBlock: break
      }
      var wake = await channel.wait(for: .write, until: deadline, on: reactor)
      // The answer in flight still goes out; `isDraining` stays set for what comes after.
      while wake == .drain { wake = await channel.wait(for: .write, until: deadline, on: reactor) }
      guard wake == .ready else { return false }
    }
    return true
  }

  private func write(_ machine: inout ConnectionStateMachine) -> WriteOutcome {
    var outcome = WriteOutcome.wouldBlock
    machine.output.send { bytes in
      outcome = channel.socket.write(bytes)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Sets the deadline of a stretch at its beginning only, so that bytes that trickle in do not move it.
  private func begin(_ stretch: ReadStretch) {
    guard stretch != self.stretch else { return }
    self.stretch = stretch
    deadline = registry.sweeps
    switch stretch {
    case .head: deadline += registry.deadlines.head
    case .body: deadline += registry.deadlines.body
    case .idle: deadline += registry.deadlines.idle
    }
  }
}
