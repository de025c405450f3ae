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

  @Test(
    "the innermost function is read from a report's context, and nothing else",
    arguments: [
      (#"SQL function "message_context" during inlining"#, "message_context"),
      ("PL/pgSQL function tacet.f(uuid,text) line 3 at PERFORM\nSQL function \"g\" statement 1", "tacet.f(uuid,text)"),
      ("SQL statement \"select function hunter2()\"\nPL/pgSQL function f() line 3 at EXECUTE", "f()"),
      ("JSON data, line 1: function [[", nil), ("PL/pgSQL function", nil), (#"SQL function "f"#, nil), ("", nil),
    ] as [(String, String?)])
  func function(context: String, name: String?) {
    #expect(PostgresError.function(in: context) == name)
  }

  @Test("only what the schema lacks is named by the server's message")
  func missingObject() {
    let text = "column p.name does not exist"
    #expect(PostgresError(.server, context: .init(sqlState: .undefinedColumn, message: text)).missingObject == text)
    #expect(PostgresError(.server, context: .init(sqlState: "22P02", message: text)).missingObject == nil)
    let raised = PostgresError(.server, context: .init(sqlState: .undefinedColumn, message: text, isRaised: true))
    #expect(raised.missingObject == nil)
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
