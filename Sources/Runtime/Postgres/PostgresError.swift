internal import CLibpq

/// What went wrong between this process and PostgreSQL.
///
/// ``description`` may be shown to a stranger. ``debugDescription`` adds the server's message, but neither what quotes a
/// value in it, nor what a function of the host has raised, nor the detail line, because that line quotes the row.
public struct PostgresError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What kind of failure it is, and with it what the caller can do.
  public enum Code: String, Sendable {
    /// The server refused the statement and said so; see ``PostgresError/sqlState``. Only this statement failed.
    case server = "the database refused the statement"
    /// The connection ended before the answer came: the statement may or may not have taken effect.
    case connectionLost = "the database connection was lost"
    /// No answer within the limit: the statement may or may not have taken effect.
    case timedOut = "the database did not answer in time"
    /// The session answers, but what another session notified did not arrive.
    case deaf = "notifications do not arrive"
    /// The session leads to a database that ``PostgresConfiguration/sessionCheck`` refuses; it was ended.
    case foreignDatabase = "the database is a copy of another one (see tacet adopt)"
    /// There is no connection, so the statement was never sent.
    case notConnected = "no database connection"
    /// A column is absent, null, or of a type that the asked-for Swift type cannot hold.
    case decoding = "a database value has another type than expected"
    /// A parameter cannot be sent as its declared type; the statement was never sent.
    case invalidParameter = "a statement parameter cannot be sent"
    /// The bound of statements in flight is reached; the statement was never sent. Try later.
    case tooManyPending = "too many statements are waiting for the database"
    /// The connection string is not understood.
    case invalidConfiguration = "the database connection string is not understood"
  }

  /// What to match on.
  public let code: Code

  // Behind a reference, because an error travels in the result of every query and would be some 130 bytes wide.
  private let context: Context

  /// Makes an error; the server's report, where there is one, comes in `context`.
  init(_ code: Code, _ message: String = "", context: Context = Context()) {
    self.code = code
    self.context = message.isEmpty ? context : context.with(message: message)
  }

  /// The server's condition; with ``Code/connectionLost`` and ``Code/notConnected`` too where the server gave a reason.
  public var sqlState: SQLState? { context.sqlState }

  /// The server's or libpq's message; may quote values of the statement.
  public var message: String { context.message }

  /// The server's detail line, which tends to quote the row. Never part of a description.
  public var detail: String? { context.detail }

  /// The name of the statement that failed.
  public var statement: String? { context.statement }

  /// The constraint that refused the row.
  public var constraint: String? { context.constraint }

  /// The table concerned.
  public var table: String? { context.table }

  /// The innermost function of the database that was running or being planned.
  public var function: String? { context.function }

  /// What the statement, or a function in it, asks for and the schema has not, or the role may not use: names of columns,
  /// tables and functions, and no value. Nil for every other failure.
  public var missingObject: String? {
    guard let sqlState, SQLState.ofMissingObjects.contains(sqlState), !context.isRaised else { return nil }
    return message
  }

  /// The kind of failure with SQLSTATE, statement and constraint; nothing that came in as data.
  public var description: String {
    var text = code.rawValue
    if let sqlState { text += " (SQLSTATE \(sqlState))" }
    if let statement { text += ", statement \(statement)" }
    if let constraint { text += ", constraint \(constraint)" }
    return text + likelyCause
  }

  /// Whether the message is a function's own, by RAISE.
  var isRaised: Bool { context.isRaised }

  /// The description and the message.
  public var debugDescription: String {
    let message = messageWithoutValues
    return message.isEmpty ? description : "\(description): \(message)"
  }

  /// Data exceptions end in the refused value, in quotes. What a function of the host raises may say anything.
  var messageWithoutValues: Substring {
    if isRaised { return "raised by a function, which may quote a row" }
    guard sqlState?.isDataException == true, let quote = message.firstIndex(of: "\"") else { return message[...] }
    return message[..<quote]
  }
}

extension PostgresError {
  /// The parts of an error report.
  final class Context: Sendable {
    let sqlState: SQLState?
    let message: String
    /// Whether the message is somebody's own, by RAISE, rather than the server's.
    let isRaised: Bool
    let detail: String?
    let statement: String?
    let constraint: String?
    let table: String?
    let function: String?

    init(
      sqlState: SQLState? = nil, message: String = "", isRaised: Bool = false, detail: String? = nil,
      statement: String? = nil, constraint: String? = nil, table: String? = nil,
      function: String? = nil
    ) {
      self.sqlState = sqlState
      self.message = message
      self.isRaised = isRaised
      self.detail = detail
      self.statement = statement
      self.constraint = constraint
      self.table = table
      self.function = function
    }

    func with(message: String? = nil, statement: String? = nil) -> Context {
      Context(
        sqlState: sqlState, message: message ?? self.message, isRaised: isRaised && message == nil, detail: detail,
        statement: statement ?? self.statement, constraint: constraint, table: table,
        function: function)
    }
  }

  /// The same failure, said of one statement.
  func of(statement name: String) -> PostgresError {
    PostgresError(code, context: context.with(statement: name))
  }

  /// The same report with another meaning, e.g. a FATAL report that ended the connection.
  func with(code: Code) -> PostgresError { PostgresError(code, context: context) }
}

extension PostgresError {
  /// Reads the error report in a libpq result. The result stays the caller's.
  init(_ code: Code = .server, report result: OpaquePointer?) {
    func field(_ name: Int32) -> String? { PQresultErrorField(result, name).map { String(cString: $0) } }
    self.init(
      code,
      context: Context(
        sqlState: field(CLIBPQ_DIAG_SQLSTATE).map { SQLState($0) },
        message: field(CLIBPQ_DIAG_MESSAGE) ?? trimmed(PQresultErrorMessage(result)),
        // The server's names for what runs PL/pgSQL's RAISE and ASSERT (src/pl/plpgsql/src/pl_exec.c).
        isRaised: ["exec_stmt_raise", "exec_stmt_assert"].contains(field(CLIBPQ_DIAG_SOURCE_FUNCTION)),
        detail: field(CLIBPQ_DIAG_DETAIL), constraint: field(CLIBPQ_DIAG_CONSTRAINT), table: field(CLIBPQ_DIAG_TABLE),
        function: field(CLIBPQ_DIAG_CONTEXT).flatMap(Self.function(in:))))
  }

  /// The innermost function that a report's context names: `SQL function "f" during inlining`, or `PL/pgSQL function
  /// s.f(uuid) line 3 at RETURN`. Nothing else of the context is read, because it may quote values; a server that speaks
  /// another language names none here.
  static func function(in context: String) -> String? {
    for line in context.split(separator: "\n") {
      guard line.hasPrefix("SQL function ") || line.hasPrefix("PL/"), let start = line.firstRange(of: "function ")
      else {
        continue
      }
      let rest = line[start.upperBound...]
      if rest.first == "\"" { return rest.dropFirst().firstIndex(of: "\"").map { String(rest[..<$0].dropFirst()) } }
      let end = rest.firstIndex(of: ")").map(rest.index(after:)) ?? rest.firstIndex(of: " ") ?? rest.endIndex
      return String(rest[..<end])
    }
    return nil
  }

  /// The last thing libpq said of a connection.
  init(_ code: Code, of connection: OpaquePointer?) {
    self.init(code, trimmed(PQerrorMessage(connection)))
  }

  /// Whether the report says that the server ends the session. libpq's own reports, without a severity, do too.
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
  /// What an operator should look at, when the failure is one that a pooler in transaction mode brings about; empty for
  /// all others. The setting is the service's, named here because every log line that tells of the failure shows this.
  var likelyCause: String {
    if code == .deaf { return ": a half-open connection, or \(Self.pooler)" }
    return isOfPooler ? ": perhaps \(Self.pooler)" : ""
  }

  private static let pooler = "a pooler in transaction mode, which needs DATABASE_POOL_MODE=transaction"

  /// PgBouncer refuses session settings in the connection request; a session that is not ours alone lacks the statements
  /// that we have prepared, or has those of others.
  private var isOfPooler: Bool {
    switch sqlState {
    case .invalidStatementName, .duplicatePreparedStatement: true
    default: code == .notConnected && message.contains("unsupported startup parameter")
    }
  }
}
