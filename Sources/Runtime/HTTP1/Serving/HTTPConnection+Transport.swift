internal import Reactors

// Input and output.
extension HTTPConnection {
  /// Sends the output, then waits for the peer.
  /// - Returns: an action to perform without a wait; nil when an event will bring it.
  func read(_ stretch: ReadStretch, on reactor: isolated Reactor) -> ConnectionAction? {
    guard send(then: .perform(.read(stretch)), on: reactor) else { return nil }
    begin(stretch)
    machine.giveBack(to: &registry.spareBuffers)
    guard countBytes() else { return machine.bytesRefused() }
    if registry.closesQuiet(stretch) {
      // Read once more, to answer a request that has arrived.
      let action = receive(stretch)
      guard action.isRead(of: stretch) else { return action }
      if let close = machine.drainRequested() { return close }
    }
    phase = .reading(stretch)
    wait(for: channel.readInterest, until: endOfStretch, on: reactor)
    if channel.hasBufferedInput { readLater(on: reactor) }
    return nil
  }

  /// Reads input that the kernel will not report again, after the other connections: a peer that never stops sending would
  /// otherwise occupy the reactor.
  private func readLater(on reactor: isolated Reactor) {
    reactor.start {
      guard case .reading(let stretch) = self.phase else { return }
      self.perform(self.receive(stretch), on: reactor)
    }
  }

  /// Reads once, and passes the bytes to the machine.
  func receive(_ stretch: ReadStretch) -> ConnectionAction {
    registry.update(&machine.date)
    machine.borrow(from: &registry.spareBuffers)
    var outcome = ChannelRead.wouldBlock
    _ = machine.receive { space in
      outcome = channel.read(into: space)
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

  /// Sends the output, usually in one write.
  /// - Parameter next: what to do later if the peer does not accept everything now.
  /// - Returns: whether everything is sent.
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

  @discardableResult
  func write() -> ChannelWrite {
    var outcome = ChannelWrite.wouldBlock
    machine.output.send { bytes in
      outcome = channel.write(bytes)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Waits until the socket is ready, at most until the sweep `deadline`.
  func wait(for interest: Interest, until deadline: Int, on reactor: isolated Reactor) {
    self.deadline = deadline
    machine.giveBack(to: &registry.spareBuffers)
    countBytes()
    if !channel.watch(for: interest, on: reactor) { leave(on: reactor) }
  }

  /// The time for sending begins with the first byte that the peer does not accept.
  private func waitToSend(then next: Next, on reactor: isolated Reactor) {
    var end = registry.sweeps + registry.clock.write
    if case .sending = phase { end = deadline }
    phase = .sending(then: next)
    guard countBytes(isAnswering: true) else { return leave(on: reactor) }
    wait(for: channel.writeInterest, until: end, on: reactor)
  }

  /// Records the start of a new stretch. Further bytes of the same stretch do not move its end.
  private func begin(_ stretch: ReadStretch) {
    guard stretch != self.stretch else { return }
    self.stretch = stretch
    stretchStart = registry.sweeps
    stretchBytes = 0
  }

  /// The end of a stretch. That of content moves with the bytes that arrive, as far as its rate allows.
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
  func isRead(of stretch: ReadStretch) -> Bool {
    if case .read(stretch) = self { true } else { false }
  }
}
