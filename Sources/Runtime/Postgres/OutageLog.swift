internal import Logging
internal import Reactors
internal import Synchronization

/// Says why there is no session with the database: a line when it begins, one a minute with the number of attempts, and one
/// when a session opens again. Shared by every copy of a ``PostgresConfiguration``, and so by the sessions of a process.
final class OutageLog: Sendable {
  private struct State {
    var line = MinuteLine()
    var isOut = false
    /// Whether a line has told of it.
    var isTold = false
  }

  private let state = Mutex(State())

  /// A session ended, or could not be opened.
  func failed(_ error: PostgresError, _ logger: Logger) {
    let times = state.withLock { state -> Int? in
      state.isOut = true
      let times = state.line.note(now: Reactor.now)
      if times != nil { state.isTold = true }
      return times
    }
    guard let times else { return }
    logger.error(
      "no database connection", metadata: ["error": "\(error.debugDescription)", "times": "\(times)"])
  }

  /// A session is open.
  func opened(_ logger: Logger) {
    let isTold = state.withLock { state in
      defer { (state.isOut, state.isTold) = (false, false) }
      return state.isOut && state.isTold
    }
    if isTold { logger.notice("database connection is back") }
  }
}
