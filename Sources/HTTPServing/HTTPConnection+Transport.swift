internal import HTTP1
internal import Reactors

// Input and output.

extension HTTPConnection {
  /// A connection that is to close is read once more: a request that has come by now is answered.
  ///
  /// - Returns: what to do instead of waiting; `nil` to wait for the peer.
  func prepareToRead(_ stretch: ReadStretch, _ machine: inout ConnectionStateMachine) -> ConnectionAction? {
    begin(stretch)
    guard registry.closesQuiet(stretch) else { return nil }
    let action = receive(stretch, &machine)
    guard case .read(let next) = action, next == stretch else { return action }
    return machine.drainRequested()
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
    var outcome = TransportRead.wouldBlock
    _ = machine.receive { space in
      outcome = channel.transport.read(into: space)
      guard case .bytes(let count) = outcome else { return 0 }
      stretchBytes += count
      return count
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
    let deadline = registry.sweeps + registry.clock.write
    while !machine.output.isEmpty {
      switch write(&machine) {
      case .bytes: continue
      case .failed: return false
      case .wouldBlock: break
      }
      let interest = channel.transport.writeInterest
      var wake = await channel.wait(for: interest, until: deadline, on: reactor)
      // The answer in flight still goes out; `isDraining` stays set for what comes after.
      while wake == .drain { wake = await channel.wait(for: interest, until: deadline, on: reactor) }
      guard wake == .ready else { return false }
    }
    return true
  }

  private func write(_ machine: inout ConnectionStateMachine) -> TransportWrite {
    var outcome = TransportWrite.wouldBlock
    machine.output.send { bytes in
      outcome = channel.transport.write(bytes)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Sets the deadline of a stretch at its beginning, so that bytes that trickle in do not move it. That of content moves
  /// with what arrives, as far as its rate allows.
  private func begin(_ stretch: ReadStretch) {
    if stretch != self.stretch {
      self.stretch = stretch
      stretchStart = registry.sweeps
      stretchBytes = 0
    }
    deadline = stretchStart + sweeps(for: stretch)
  }

  private func sweeps(for stretch: ReadStretch) -> Int {
    switch stretch {
    case .head: admission == .reserved ? registry.clock.reserve : registry.clock.head
    case .body: registry.clock.body(afterReceiving: stretchBytes)
    case .idle: registry.clock.idle
    }
  }
}
