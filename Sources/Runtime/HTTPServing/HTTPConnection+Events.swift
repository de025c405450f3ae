internal import HTTP1
internal import Reactors

// What the reactor and the registry tell.

extension HTTPConnection: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    switch phase {
    case .reading(let stretch): perform(receive(stretch), on: reactor)
    case .sending(let next): if send(then: next, on: reactor) { proceed(to: next, on: reactor) }
    case .shakingHands: shakeHands(on: reactor)
    case .finishing: finish(on: reactor)
    case .lingering(let bytesLeft): linger(bytesLeft, on: reactor)
    case .handling, .closed: channel.ignore(readiness, on: reactor)
    }
  }
}

extension HTTPConnection {
  /// Called at each sweep of the registry.
  func sweep(on reactor: isolated Reactor) {
    guard registry.sweeps >= deadline else { return }
    switch phase {
    case .reading(let stretch): perform(lastRead(stretch), on: reactor)
    case .shakingHands:
      // Whoever stays without a word has tried nothing.
      if channel.transport.isSecure { registry.counters.noteFailedHandshake() }
      leave(on: reactor)
    case .sending, .finishing, .lingering: leave(on: reactor)
    case .handling, .closed: break
    }
  }

  /// The service's end has come nearer. Who is being answered is finished with first; who is being let in has been told of
  /// no end, and has as long as a client without TLS that has asked nothing.
  func drain(on reactor: isolated Reactor) {
    isDraining = true
    switch phase {
    case .reading(let stretch): perform(.read(stretch), on: reactor)
    case .shakingHands where registry.closesQuiet(.head): leave(on: reactor)
    default: break
    }
  }

  /// Ends everything at once.
  func abort(on reactor: isolated Reactor) { leave(on: reactor) }

  /// Bytes that have come in time are not late, and those that trickle in do not help.
  private func lastRead(_ stretch: ReadStretch) -> ConnectionAction {
    let action = receive(stretch)
    guard action.isRead(of: stretch), registry.sweeps >= endOfStretch else { return action }
    return machine.deadlinePassed()
  }

  /// Nothing is left to be sent.
  func proceed(to next: Next, on reactor: isolated Reactor) {
    switch next {
    case .perform(let action): perform(action, on: reactor)
    case .linger: beginLinger(on: reactor)
    case .leave: leave(on: reactor)
    }
  }
}
