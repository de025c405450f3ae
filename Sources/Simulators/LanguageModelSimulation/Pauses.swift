internal import Reactors
internal import Synchronization

/// Requests that wait for the time of their answer, or for a release.
final class Pauses: Sendable {
  private struct State {
    var waiting: [Int: Waiter] = [:]
    var isOver = false
  }

  private struct Waiter {
    let signal: ReactorBound<Signal>
    /// Whether it waits for ``Pauses/release()``.
    let hangs: Bool
  }

  private let state = Mutex(State())

  /// Waits as long as the step says.
  /// - Returns: false when the simulator stops.
  func wait(for turn: ModelTurn, on reactor: isolated Reactor) async -> Bool {
    let hangs = turn.step.answer.kind == .hang
    guard hangs || turn.delay > .zero else { return true }
    let signal = Signal()
    let waiter = Waiter(signal: ReactorBound(signal, on: reactor), hangs: hangs)
    let isOver = state.withLock { state in
      state.waiting[turn.number] = waiter
      return state.isOver
    }
    if !isOver { _ = await signal.wait(for: hangs ? nil : turn.delay, on: reactor) }
    return state.withLock { state in
      state.waiting[turn.number] = nil
      return !state.isOver
    }
  }

  /// Releases all hanging requests.
  /// - Returns: their number.
  func release() -> Int {
    let hanging = state.withLock { state in state.waiting.values.filter(\.hangs) }
    for waiter in hanging { waiter.signal.submit { $0.signal(on: $1) } }
    return hanging.count
  }

  /// Releases all requests, and refuses later ones.
  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting.values.map(\.signal)
    }
    for signal in waiting { signal.submit { $0.signal(on: $1) } }
  }
}
