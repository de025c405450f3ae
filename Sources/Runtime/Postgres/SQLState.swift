/// PostgreSQL's code of a condition: five characters, of which the first two are its class.
///
/// Source: PostgreSQL manual, appendix A, "PostgreSQL Error Codes".
package struct SQLState: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Five characters, upper-case letters and digits.
  package let description: String

  package init(_ code: String) { description = code }

  package init(stringLiteral code: String) { description = code }

  /// The first two characters, which all conditions of a class share.
  package var conditionClass: Substring { description.prefix(2) }

  package var isConnectionException: Bool { conditionClass == "08" }

  /// Class 22: a value does not fit its type. The server's message usually quotes the value.
  package var isDataException: Bool { conditionClass == "22" }

  package var isIntegrityConstraintViolation: Bool { conditionClass == "23" }

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
  package static let adminShutdown: SQLState = "57P01"
  /// The server is starting up or shutting down and takes no connections yet.
  package static let cannotConnectNow: SQLState = "57P03"
  package static let serializationFailure: SQLState = "40001"
  package static let deadlockDetected: SQLState = "40P01"
  /// A lock was not available at once, or within `lock_timeout`.
  package static let lockNotAvailable: SQLState = "55P03"
  package static let inFailedTransaction: SQLState = "25P02"
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
  static let ofMissingObjects: Set<SQLState> = [
    undefinedTable, undefinedColumn, undefinedFunction, insufficientPrivilege,
  ]
  package static let invalidPassword: SQLState = "28P01"
  /// The database does not exist.
  package static let invalidCatalogName: SQLState = "3D000"
}
