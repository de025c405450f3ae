internal import CLibpq
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

/// Writes the server's notices and warnings to the log, at debug. Of those that functions raise only the SQLSTATE, because
/// they may quote rows.
final class NoticeLog: Sendable {
  private let logger: Logger
  private let handler: (@Sendable (String) -> Void)?

  init(_ logger: Logger, handler: (@Sendable (String) -> Void)? = nil) {
    self.logger = logger
    self.handler = handler
  }

  /// libpq calls back with this object from inside its own calls; the connection that owns the handle also owns this
  /// object and frees the handle first, so an unretained pointer is safe.
  func attach(to connection: OpaquePointer) {
    PQsetNoticeReceiver(
      connection,
      { argument, result in
        guard let argument else { return }
        Unmanaged<NoticeLog>.fromOpaque(argument).takeUnretainedValue().note(result)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func note(_ result: OpaquePointer?) {
    guard handler != nil || logger.logLevel <= .debug else { return }
    let notice = PostgresError(report: result)
    let isWarning = PQresultErrorField(result, CLIBPQ_DIAG_SEVERITY).map { String(cString: $0) } == "WARNING"
    // What the server says of names that are there already concerns nobody.
    if notice.isRaised || isWarning { handler?(notice.message) }
    logger.debug(
      "database notice",
      metadata: ["sqlstate": "\(notice.sqlState?.description ?? "")", "message": "\(notice.messageWithoutValues)"])
  }
}
