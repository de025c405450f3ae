internal import CLibpq
internal import Logging
internal import Reactors
internal import Synchronization

/// Logs outages of the database: a line when one begins, one a minute with the number of attempts, and one when a session opens
/// again. All copies of a ``PostgresConfiguration`` share it, and so do the sessions of a process.
final class OutageLog: Sendable {
  private struct State {
    var line = MinuteLine()
    /// Whether a line about the current outage was logged.
    var isTold = false
  }

  private let state = Mutex(State())

  /// A session ended, or could not be opened.
  func failed(_ error: PostgresError, _ logger: Logger) {
    let times = state.withLock { state -> Int? in
      let times = state.line.note(now: Reactor.now)
      if times != nil { state.isTold = true }
      return times
    }
    guard let times else { return }
    logger.error(
      "no database connection", metadata: ["error": "\(error.debugDescription)", "times": "\(times)"])
  }

  func opened(_ logger: Logger) {
    let isTold = state.withLock { state in
      defer { state.isTold = false }
      return state.isTold
    }
    if isTold { logger.notice("database connection is back") }
  }
}

/// Logs the server's notices and warnings at debug. Logs only the SQLSTATE of those that functions raise, because they may quote
/// rows.
final class NoticeLog: Sendable {
  private let logger: Logger
  private let handler: (@Sendable (String) -> Void)?

  init(_ logger: Logger, handler: (@Sendable (String) -> Void)? = nil) {
    self.logger = logger
    self.handler = handler
  }

  /// libpq calls back with this object inside its calls. The pointer can be unretained, because the connection that owns the
  /// handle also owns this object and frees the handle first.
  func attach(to connection: OpaquePointer) {
    PQsetNoticeReceiver(
      connection,
      { argument, result in
        guard let argument else { return }
        Unmanaged<NoticeLog>.fromOpaque(argument).takeUnretainedValue().log(result)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func log(_ result: OpaquePointer?) {
    guard handler != nil || logger.logLevel <= .debug else { return }
    let notice = PostgresError(report: result)
    let isWarning = PQresultErrorField(result, CLIBPQ_DIAG_SEVERITY).map { String(cString: $0) } == "WARNING"
    // Notices of existing names are of no interest.
    if notice.isRaised || isWarning { handler?(notice.message) }
    logger.debug(
      "database notice",
      metadata: ["sqlstate": "\(notice.sqlState?.description ?? "")", "message": "\(notice.messageWithoutValues)"])
  }
}
