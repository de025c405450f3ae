import Synchronization

/// Holds handlers until it is opened, and counts them.
package final class Turnstile: Sendable {
  private struct State {
    var isOpen = false
    var inside = 0
    package var insideMax = 0
    var held: [CheckedContinuation<Void, Never>] = []
    var observer: (count: Int, CheckedContinuation<Void, Never>)?
  }

  private let state = Mutex(State())

  package init() {}

  /// The most that were inside at the same time.
  package var insideMax: Int { state.withLock { $0.insideMax } }

  package func pass() async {
    await withCheckedContinuation { continuation in
      let (observer, isOpen) = state.withLock { state in
        state.inside += 1
        state.insideMax = max(state.insideMax, state.inside)
        if !state.isOpen { state.held.append(continuation) }
        let observer = state.observer.flatMap { state.inside >= $0.count ? $0.1 : nil }
        if observer != nil { state.observer = nil }
        return (observer, state.isOpen)
      }
      observer?.resume()
      if isOpen { continuation.resume() }
    }
    state.withLock { $0.inside -= 1 }
  }

  /// Returns once so many are inside.
  package func holds(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.inside < count { state.observer = (count, continuation) }
        return state.inside >= count
      }
      if isReached { continuation.resume() }
    }
  }

  package func open() {
    let held = state.withLock { state in
      defer { state.held = [] }
      state.isOpen = true
      return state.held
    }
    for continuation in held { continuation.resume() }
  }
}
