internal import CLibpq

/// A failure between this process and PostgreSQL.
/// ``description`` can be shown to a stranger. ``debugDescription`` adds the server's message, without quoted values, texts that
/// functions raised. The server's detail line, which quotes the row, is not read.
@dynamicMemberLookup
package struct PostgresError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  package enum Code: String, Sendable {
    /// The server refused the statement; see ``PostgresError/sqlState``. Only this statement failed.
    case server = "the database refused the statement"
    /// The connection ended before the answer. The statement may have taken effect.
    case connectionLost = "the database connection was lost"
    /// The answer did not come within the limit. The statement may have taken effect.
    case timedOut = "the database did not answer in time"
    /// The session answers, but another session's notify did not arrive.
    case deaf = "notifications do not arrive"
    /// ``PostgresConfiguration/sessionCheck`` refused the session's database. The session was ended.
    case foreignDatabase = "the database is a copy of another one (see tacet adopt)"
    /// There is no connection. The statement was not sent.
    case notConnected = "no database connection"
    /// A column is absent, null, or of a type that the Swift type cannot hold.
    case decoding = "a database value has another type than expected"
    /// A parameter cannot be sent as its declared type. The statement was not sent.
    case invalidParameter = "a statement parameter cannot be sent"
    /// The bound of statements in flight is reached. The statement was not sent; try later.
    case tooManyPending = "too many statements are waiting for the database"
    case invalidConfiguration = "the database connection string is not understood"
  }

  package let code: Code

  // An object, because the result of every query has space for an error, which would take 130 bytes.
  private let report: Report
  private var context: Context { report.context }

  init(_ code: Code, _ message: String) { self.init(code, context: Context(message: message)) }

  init(_ code: Code, context: Context = Context()) {
    self.code = code
    report = Report(context)
  }

  package var sqlState: SQLState? { context.sqlState }

  /// The parts of the report, such as ``Context/message``.
  package subscript<Value>(dynamicMember part: KeyPath<Context, Value>) -> Value { context[keyPath: part] }

  /// The server's message, if the schema lacks an object of the statement or the role may not use it. Contains names of columns,
  /// tables and functions, but no values. Nil for other failures.
  package var missingObject: String? {
    guard let state = context.sqlState, SQLState.ofMissingObjects.contains(state), !context.isRaised else { return nil }
    return context.message
  }

  /// The kind of failure with SQLSTATE, statement and constraint. Contains no data.
  package var description: String {
    var text = code.rawValue
    if let state = context.sqlState { text += " (SQLSTATE \(state))" }
    if let statement = context.statement { text += ", statement \(statement)" }
    if let constraint = context.constraint { text += ", constraint \(constraint)" }
    return text + likelyCause
  }

  package var debugDescription: String {
    let message = messageWithoutValues
    return message.isEmpty ? description : "\(description): \(message)"
  }

  /// Data exceptions end with the refused value in quotes. Raised texts may contain anything.
  var messageWithoutValues: Substring {
    if context.isRaised { return "raised by a function, which may quote a row" }
    // Class 22, data exceptions.
    guard context.sqlState?.conditionClass == "22", let quote = context.message.firstIndex(of: "\"") else {
      return context.message[...]
    }
    return context.message[..<quote]
  }
}

extension PostgresError {
  package struct Context: Sendable {
    /// The server's condition. May also be set for ``Code/connectionLost`` and ``Code/notConnected``.
    package var sqlState: SQLState?
    /// The server's or libpq's message. May quote values of the statement.
    package var message = ""
    /// Whether a function raised the message.
    var isRaised = false
    package var statement: String?
    package var constraint: String?
    /// The innermost database function that was running or being planned.
    package var function: String?
  }

  private final class Report: Sendable {
    let context: Context

    init(_ context: Context) { self.context = context }
  }

  func of(statement name: String) -> PostgresError {
    var context = context
    context.statement = name
    return PostgresError(code, context: context)
  }

  /// The same report with another code, e.g. of a FATAL report that ended the connection.
  func with(code: Code) -> PostgresError { PostgresError(code, context: context) }
}

extension PostgresError {
  /// Reads the error report of a libpq result. The caller keeps the result.
  init(_ code: Code = .server, report result: OpaquePointer?) {
    func field(_ name: Int32) -> String? { PQresultErrorField(result, name).map { String(cString: $0) } }
    self.init(
      code,
      context: Context(
        sqlState: field(CLIBPQ_DIAG_SQLSTATE).map { SQLState($0) },
        message: field(CLIBPQ_DIAG_MESSAGE) ?? trimmed(PQresultErrorMessage(result)),
        // The server's functions for PL/pgSQL's RAISE and ASSERT (src/pl/plpgsql/src/pl_exec.c).
        isRaised: ["exec_stmt_raise", "exec_stmt_assert"].contains(field(CLIBPQ_DIAG_SOURCE_FUNCTION)),
        constraint: field(CLIBPQ_DIAG_CONSTRAINT), function: field(CLIBPQ_DIAG_CONTEXT).flatMap(Self.function(in:))))
  }

  /// The innermost function in a report's context: `SQL function "f" during inlining`, or `PL/pgSQL function s.f(uuid) line 3 at
  /// RETURN`. The rest of the context may quote values and is not read. Nil for a server with another language.
  static func function(in context: String) -> String? {
    for line in context.split(separator: "\n") {
      guard line.hasPrefix("SQL function ") || line.hasPrefix("PL/"), let start = line.firstRange(of: "function ")
      else { continue }
      let rest = line[start.upperBound...]
      if rest.first == "\"" { return rest.dropFirst().firstIndex(of: "\"").map { String(rest[..<$0].dropFirst()) } }
      let end = rest.firstIndex(of: ")").map(rest.index(after:)) ?? rest.firstIndex(of: " ") ?? rest.endIndex
      return String(rest[..<end])
    }
    return nil
  }

  /// libpq's last message about a connection.
  init(_ code: Code, of connection: OpaquePointer?) { self.init(code, trimmed(PQerrorMessage(connection))) }

  /// Whether the report ends the session, as libpq's reports, which have no severity, do too.
  static func endsSession(report result: OpaquePointer?) -> Bool {
    guard let severity = PQresultErrorField(result, CLIBPQ_DIAG_SEVERITY).map({ String(cString: $0) }) else {
      return true
    }
    return severity != "ERROR"
  }
}

/// libpq ends its messages with a newline.
private func trimmed(_ text: UnsafePointer<CChar>?) -> String {
  guard let text else { return "" }
  var message = Substring(String(cString: text))
  while message.last?.isNewline == true { message.removeLast() }
  return String(message)
}

extension PostgresError {
  /// A hint for the operator, if the server takes no writes, or a pooler in transaction mode may be the cause; empty for other
  /// failures. Names the service's setting, because every log line of the failure contains this.
  private var likelyCause: String {
    if code == .deaf { return ": a half-open connection, or \(Self.pooler)" }
    if context.sqlState == .readOnlyTransaction { return ": \(Self.takesNoWrites)" }
    return isOfPooler ? ": perhaps \(Self.pooler)" : ""
  }

  /// Why a database answers, and no push goes out: of sessions, readiness and the doctor alike.
  package static let takesNoWrites = "it takes no writes: a standby, or default_transaction_read_only is on"
  private static let pooler = "a pooler in transaction mode, which needs DATABASE_POOL_MODE=transaction"

  /// PgBouncer refuses session settings in the connection request. A shared session lacks this process's prepared statements, or
  /// has those of others.
  private var isOfPooler: Bool {
    switch context.sqlState {
    case .invalidStatementName, .duplicatePreparedStatement: true
    default: code == .notConnected && context.message.contains("unsupported startup parameter")
    }
  }
}

/// PostgreSQL's code of a condition: five characters, of which the first two are its class.
/// Source: PostgreSQL manual, appendix A, "PostgreSQL Error Codes".
package struct SQLState: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Five characters, upper-case letters and digits.
  package let description: String

  package init(_ code: String) { description = code }

  package init(stringLiteral code: String) { description = code }

  /// The first two characters, which all conditions of a class share.
  package var conditionClass: Substring { description.prefix(2) }
  package var isConnectionException: Bool { conditionClass == "08" }
  /// Class 40: the transaction was rolled back because of others, and may succeed when run again. After 40003 it may have been
  /// committed.
  package var isRetryable: Bool { conditionClass == "40" }
  /// Class 53: the server has no memory, disk or connections left.
  package var isInsufficientResources: Bool { conditionClass == "53" }
  /// Class 57: an operator, a time-out or a shutdown intervened.
  package var isOperatorIntervention: Bool { conditionClass == "57" }

  package static let uniqueViolation: SQLState = "23505"
  /// The row referred to does not exist, or is still referred to.
  package static let foreignKeyViolation: SQLState = "23503"
  /// Cancelled, usually by `statement_timeout`.
  package static let queryCanceled: SQLState = "57014"
  /// The server is starting up or shutting down and takes no connections yet.
  package static let cannotConnectNow: SQLState = "57P03"
  package static let serializationFailure: SQLState = "40001"
  package static let deadlockDetected: SQLState = "40P01"
  /// A lock was not available at once, or within `lock_timeout`.
  package static let lockNotAvailable: SQLState = "55P03"
  /// The transaction may not write: the server is a standby, or was told to refuse writes.
  package static let readOnlyTransaction: SQLState = "25006"
  /// The session has no prepared statement of that name.
  package static let invalidStatementName: SQLState = "26000"
  package static let duplicatePreparedStatement: SQLState = "42P05"
  /// The table does not exist or is not in the search path.
  package static let undefinedTable: SQLState = "42P01"
  package static let undefinedColumn: SQLState = "42703"
  /// A function, or an operator, of those argument types is missing.
  package static let undefinedFunction: SQLState = "42883"
  package static let insufficientPrivilege: SQLState = "42501"
  /// Conditions whose message names objects of the schema.
  static let ofMissingObjects: Set = [undefinedTable, undefinedColumn, undefinedFunction, insufficientPrivilege]
  package static let invalidPassword: SQLState = "28P01"
  /// The database does not exist.
  package static let invalidCatalogName: SQLState = "3D000"
}
