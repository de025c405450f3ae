internal import Reactors
internal import Synchronization

/// Requests that wait for the time of their answer, or for a release.
final class HeldRequests: Sendable {
  private struct State {
    var waiting: [Int: Waiter] = [:]
    var lastNumber = 0
    var isOver = false
  }

  private struct Waiter {
    let signal: ReactorBound<Signal>
    /// Whether it waits without a limit.
    let hangs: Bool
  }

  private let state = Mutex(State())

  /// Waits.
  /// - Parameter limit: nil waits for ``release()``, or until the simulator stops.
  /// - Returns: false when the simulator stops.
  func wait(for limit: Duration?, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let waiter = Waiter(signal: ReactorBound(signal, on: reactor), hangs: limit == nil)
    let (number, isOver) = state.withLock { state in
      state.lastNumber += 1
      state.waiting[state.lastNumber] = waiter
      return (state.lastNumber, state.isOver)
    }
    if !isOver { _ = await signal.wait(for: limit, on: reactor) }
    return state.withLock { state in
      state.waiting[number] = nil
      return !state.isOver
    }
  }

  /// Releases all requests that wait without a limit.
  /// - Returns: their number.
  func release() -> Int {
    let hanging = state.withLock { state in state.waiting.values.filter(\.hangs) }
    for waiter in hanging { waiter.signal.submit { $0.signal(on: $1) } }
    return hanging.count
  }

  /// Releases all requests, and later ones at once.
  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting.values.map(\.signal)
    }
    for signal in waiting { signal.submit { $0.signal(on: $1) } }
  }
}
