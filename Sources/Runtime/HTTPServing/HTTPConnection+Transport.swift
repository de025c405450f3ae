internal import HTTP1
internal import Reactors

// Input and output.

extension HTTPConnection {
  /// Sends what waits, then waits for the peer.
  ///
  /// - Returns: what to do without a wait.
  func read(_ stretch: ReadStretch, on reactor: isolated Reactor) -> ConnectionAction? {
    guard send(then: .perform(.read(stretch)), on: reactor) else { return nil }
    begin(stretch)
    machine.giveBack(to: &registry.spareBuffers)
    guard countBytes() else { return machine.bytesRefused() }
    if registry.closesQuiet(stretch) {
      // Read once more: a request that has come by now is answered.
      let action = receive(stretch)
      guard action.isRead(of: stretch) else { return action }
      if let close = machine.drainRequested() { return close }
    }
    phase = .reading(stretch)
    wait(for: channel.transport.readInterest, until: endOfStretch, on: reactor)
    if channel.transport.hasBufferedInput { readLater(on: reactor) }
    return nil
  }

  /// Reads what the kernel tells of no more, when everybody else has had a turn: a peer whose bytes never end would keep the
  /// reactor for itself.
  private func readLater(on reactor: isolated Reactor) {
    reactor.start {
      guard case .reading(let stretch) = self.phase else { return }
      self.perform(self.receive(stretch), on: reactor)
    }
  }

  /// Reads once, and has the machine look at it.
  func receive(_ stretch: ReadStretch) -> ConnectionAction {
    registry.update(&machine.date)
    machine.borrow(from: &registry.spareBuffers)
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

  /// Sends what waits, usually in one write.
  ///
  /// - Parameter next: what comes later when the peer does not take everything now.
  /// - Returns: whether nothing is left.
  func send(then next: Next, on reactor: isolated Reactor) -> Bool {
    while !machine.output.isEmpty {
      switch write() {
      case .bytes: continue
      case .failed:
        leave(on: reactor)
        return false
      case .wouldBlock:
        waitToSend(then: next, on: reactor)
        return false
      }
    }
    return true
  }

  /// Tries one write.
  @discardableResult
  func write() -> TransportWrite {
    var outcome = TransportWrite.wouldBlock
    machine.output.send { bytes in
      outcome = channel.transport.write(bytes)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Has the reactor call when the socket is ready, or at the latest at the sweep `deadline`.
  func wait(for interest: Interest, until deadline: Int, on reactor: isolated Reactor) {
    self.deadline = deadline
    machine.giveBack(to: &registry.spareBuffers)
    countBytes()
    if !channel.watch(for: interest, on: reactor) { leave(on: reactor) }
  }

  /// The time for sending begins with the first byte that the peer does not take.
  private func waitToSend(then next: Next, on reactor: isolated Reactor) {
    var end = registry.sweeps + registry.clock.write
    if case .sending = phase { end = deadline }
    phase = .sending(then: next)
    guard countBytes(isAnswering: true) else { return leave(on: reactor) }
    wait(for: channel.transport.writeInterest, until: end, on: reactor)
  }

  /// Notes a stretch at its beginning, so that bytes that trickle in do not move its end.
  private func begin(_ stretch: ReadStretch) {
    guard stretch != self.stretch else { return }
    self.stretch = stretch
    stretchStart = registry.sweeps
    stretchBytes = 0
  }

  /// That of content moves with what arrives, as far as its rate allows.
  var endOfStretch: Int {
    let clock = registry.clock
    guard admission != .reserved else { return stretchStart + clock.reserve }
    return switch stretch {
    case .head: stretchStart + clock.head
    case .body: stretchStart + clock.body(afterReceiving: stretchBytes)
    case .idle, nil: stretchStart + clock.idle
    }
  }
}

extension ConnectionAction {
  /// Whether nothing has come of a read.
  func isRead(of stretch: ReadStretch) -> Bool {
    if case .read(stretch) = self { true } else { false }
  }
}
