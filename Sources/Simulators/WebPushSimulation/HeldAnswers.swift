internal import Reactors
internal import Synchronization

/// Answers that wait for their time.
final class HeldAnswers: Sendable {
  private struct State: Sendable {
    var waiting: [Int: ReactorBound<Signal>] = [:]
    var lastNumber = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Waits.
  /// - Parameter delay: nil for ever.
  /// - Returns: false when the simulator stops.
  func wait(for delay: Duration?, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    let number: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.lastNumber += 1
      state.waiting[state.lastNumber] = bound
      return state.lastNumber
    }
    guard let number else { return false }
    _ = await signal.wait(for: delay, on: reactor)
    return state.withLock { state in
      state.waiting[number] = nil
      return !state.isOver
    }
  }

  /// Ends all waits, and later ones at once.
  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      return Array(state.waiting.values)
    }
    for signal in waiting { signal.submit { $0.signal(on: $1) } }
  }
}
