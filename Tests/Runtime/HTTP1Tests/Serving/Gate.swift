import Synchronization

/// Holds one handler until the test opens it.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var isEntered = false
    var inside: CheckedContinuation<Void, Never>?
    var outside: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func pass() async {
    await withCheckedContinuation { continuation in
      let (observer, isOpen) = state.withLock { state in
        state.isEntered = true
        if !state.isOpen { state.inside = continuation }
        return (state.outside.take(), state.isOpen)
      }
      observer?.resume()
      if isOpen { continuation.resume() }
    }
  }

  func entered() async {
    await withCheckedContinuation { continuation in
      let isEntered = state.withLock { state in
        if !state.isEntered { state.outside = continuation }
        return state.isEntered
      }
      if isEntered { continuation.resume() }
    }
  }

  func open() {
    let waiter = state.withLock { state in
      state.isOpen = true
      return state.inside.take()
    }
    waiter?.resume()
  }
}
