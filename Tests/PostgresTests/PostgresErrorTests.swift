import Testing

@testable import Postgres

@Suite("Errors")
struct PostgresErrorTests {
  @Test("a description names condition, statement and constraint, and nothing that came in as data")
  func description() {
    let error = PostgresError(
      .server,
      context: .init(
        sqlState: .uniqueViolation, message: "duplicate key", detail: "Key (token)=(abc) already exists.",
        constraint: "devices_token_key")
    ).of(statement: "register")
    #expect(
      error.description
        == "the database refused the statement (SQLSTATE 23505), statement register, constraint devices_token_key")
    #expect(error.debugDescription.hasSuffix(": duplicate key"))
    #expect(!error.debugDescription.contains("abc"))
  }

  @Test("a data exception's message is cut before the value it quotes")
  func dataException() {
    let error = PostgresError(
      .server, context: .init(sqlState: "22P02", message: #"invalid input syntax for type uuid: "abc""#))
    #expect(error.debugDescription.hasSuffix("invalid input syntax for type uuid: "))
  }

  @Test("a family of conditions can be matched as well as a member")
  func classes() {
    #expect(SQLState("08006").isConnectionException)
    #expect(SQLState.deadlockDetected.isRetryable && SQLState.serializationFailure.isRetryable)
    #expect(SQLState.uniqueViolation.isIntegrityConstraintViolation && !SQLState.uniqueViolation.isRetryable)
    #expect(SQLState.adminShutdown.isOperatorIntervention)
  }
}
