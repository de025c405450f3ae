internal import Reactors
internal import Synchronization

/// Requests that wait: for a time, or until the simulator stops.
final class HeldRequests: Sendable {
  private struct State {
    var waiting: [Int: ReactorBound<Signal>] = [:]
    var lastNumber = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Waits.
  /// - Parameter limit: nil waits until the simulator stops.
  /// - Returns: false when the simulator stops.
  func wait(for limit: Duration?, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    let (number, isOver) = state.withLock { state in
      state.lastNumber += 1
      state.waiting[state.lastNumber] = bound
      return (state.lastNumber, state.isOver)
    }
    if !isOver { _ = await signal.wait(for: limit, on: reactor) }
    return state.withLock { state in
      state.waiting[number] = nil
      return !state.isOver
    }
  }

  /// Releases all requests, and later ones at once.
  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting.values
    }
    for signal in waiting { signal.submit { $0.signal(on: $1) } }
  }
}
