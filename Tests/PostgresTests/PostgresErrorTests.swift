import Reactors
import TestLogs
import TestPostgres
import TestReactors
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

@Suite("What functions raise", .serialized)
struct RaisedErrorTests {
  private static let raise = PostgresStatement(
    "raise", "select 1 from (select pg_temp.quote_row('words-of-a-message')) q")

  @Test("stands in no description of an error, and in no line about a notice")
  func hidden() async throws {
    let lines = LogLines()
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo())
      let connection = try await PostgresConnection.connect(configuration, logger: lines.logger, on: reactor)
      try await connection.simple(
        """
        create function pg_temp.quote_row(words text) returns text language plpgsql as $$
        begin
          raise warning 'seen: %', words;
          raise exception 'refused: %', words using detail = words, hint = words, errcode = '42P01';
        end $$
        """, on: reactor)
      let error = try await failure { try await connection.query(Self.raise, on: reactor) }
      connection.close(on: reactor)
      #expect(error.message.contains("words-of-a-message"))
      #expect(error.sqlState == .undefinedTable)
      #expect(!error.debugDescription.contains("words-of-a-message"))
      #expect(!"\(error)".contains("words-of-a-message"))
      let notices = lines.all.filter { $0.message == "database notice" }
      #expect(notices.map { $0.metadata["sqlstate"] } == ["01000"])
      #expect(!lines.all.contains { "\($0)".contains("words-of-a-message") })
    }
  }
}
