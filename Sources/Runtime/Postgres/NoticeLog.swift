internal import CLibpq
internal import Logging

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
