/// PostgreSQL's code of a condition: five characters, of which the first two are its class.
///
/// Source: PostgreSQL manual, appendix A, "PostgreSQL Error Codes".
public struct SQLState: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Five characters, upper-case letters and digits.
  public let description: String

  /// A condition by its code, e.g. one read from an error report.
  public init(_ code: String) { description = code }

  /// A condition by its code, e.g. `"23505"`.
  public init(stringLiteral code: String) { description = code }

  /// The first two characters, which all conditions of a class share.
  public var conditionClass: Substring { description.prefix(2) }

  /// Class 08: the connection failed or was refused.
  public var isConnectionException: Bool { conditionClass == "08" }

  /// Class 22: a value does not fit its type. The server's message usually quotes the value.
  public var isDataException: Bool { conditionClass == "22" }

  /// Class 23: a constraint refused a row.
  public var isIntegrityConstraintViolation: Bool { conditionClass == "23" }

  /// Class 40: the transaction was rolled back because of others, and may succeed when run again. After 40003 it may have been
  /// committed.
  public var isRetryable: Bool { conditionClass == "40" }

  /// Class 53: the server has no memory, disk or connections left.
  public var isInsufficientResources: Bool { conditionClass == "53" }

  /// Class 57: an operator, a time-out or a shutdown intervened.
  public var isOperatorIntervention: Bool { conditionClass == "57" }

  /// A unique constraint already has such a row.
  public static let uniqueViolation: SQLState = "23505"
  /// The row referred to does not exist, or is still referred to.
  public static let foreignKeyViolation: SQLState = "23503"
  /// Cancelled, usually by `statement_timeout`.
  public static let queryCanceled: SQLState = "57014"
  /// The server is shutting down.
  public static let adminShutdown: SQLState = "57P01"
  /// The server is starting up or shutting down and takes no connections yet.
  public static let cannotConnectNow: SQLState = "57P03"
  /// A serializable transaction conflicted with another one.
  public static let serializationFailure: SQLState = "40001"
  /// Two transactions waited for each other.
  public static let deadlockDetected: SQLState = "40P01"
  /// A lock was not available at once, or within `lock_timeout`.
  public static let lockNotAvailable: SQLState = "55P03"
  /// A statement of this transaction has failed before.
  public static let inFailedTransaction: SQLState = "25P02"
  /// The transaction may not write: the server is a standby, or was told to refuse writes.
  public static let readOnlyTransaction: SQLState = "25006"
  /// The session has no prepared statement of that name.
  public static let invalidStatementName: SQLState = "26000"
  /// The session already has a prepared statement of that name.
  public static let duplicatePreparedStatement: SQLState = "42P05"
  /// The table does not exist or is not in the search path.
  public static let undefinedTable: SQLState = "42P01"
  /// A column is missing.
  public static let undefinedColumn: SQLState = "42703"
  /// A function, or an operator, of those argument types is missing.
  public static let undefinedFunction: SQLState = "42883"
  /// The role lacks a privilege.
  public static let insufficientPrivilege: SQLState = "42501"
  /// Conditions whose message names objects of the schema.
  static let ofMissingObjects: Set<SQLState> = [
    undefinedTable, undefinedColumn, undefinedFunction, insufficientPrivilege,
  ]
  /// The password is wrong.
  public static let invalidPassword: SQLState = "28P01"
  /// The database does not exist.
  public static let invalidCatalogName: SQLState = "3D000"
}
