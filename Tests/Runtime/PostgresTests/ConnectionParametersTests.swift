import Reactors
import TestLogs
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("Connection strings")
struct ConnectionParametersTests {
  private func parameters(_ conninfo: String) throws -> ConnectionParameters {
    try ConnectionParameters(PostgresConfiguration(conninfo: conninfo))
  }

  @Test("each host is a target; one port serves all of them")
  func targets() throws {
    #expect(
      try parameters("host=a,/run,c port=5").targets == [
        ConnectionTarget(host: "a", address: "", port: "5"), ConnectionTarget(host: "/run", address: "", port: "5"),
        ConnectionTarget(host: "c", address: "", port: "5"),
      ])
    #expect(
      try parameters("postgresql://a:1,b:2/d").targets == [
        ConnectionTarget(host: "a", address: "", port: "1"), ConnectionTarget(host: "b", address: "", port: "2"),
      ])
  }

  @Test("only names need resolving: no path, no abstract socket, no host with an address")
  func resolution() throws {
    #expect(try parameters("host=a,/run,@x").targets.map(\.needsResolution) == [true, false, false])
    #expect(try parameters("host=a hostaddr=::1").targets.map(\.needsResolution) == [false])
  }

  @Test("each host is tried with its own address and port")
  func single() async throws {
    var two = try parameters("host=127.0.0.1,/run port=1,2")
    try await two.resolve()
    #expect(
      two.targets.map(ConnectionParameters.keywords(of:)) == [
        ["host": "127.0.0.1", "hostaddr": "127.0.0.1", "port": "1"], ["host": "/run", "port": "2"],
      ])
    #expect(two.keywords["host"] == nil && two.keywords["port"] == nil)
    #expect(two.targets.map(\.description) == ["127.0.0.1:1", "/run:2"])
  }

  @Test("without a host libpq's defaults stand")
  func noHost() throws {
    let parameters = try parameters("dbname=d port=7")
    #expect(parameters.targets.isEmpty)
    #expect(parameters.keywords["port"] == "7")
  }

  @Test("the string's own name and options win over the configuration's")
  func precedence() throws {
    let keywords = try parameters("application_name=mine options='-c search_path=x'").keywords
    #expect(keywords["application_name"] == "mine")
    #expect(keywords["options"]?.hasSuffix("-c search_path=x") == true)
  }

  @Test(
    "a usable string has no fault",
    arguments: [
      "postgresql://u:p@a,b:5433/db?target_session_attrs=read-write", "postgres://localhost", "host=/run user=tacet",
      "service=tacet", "postgresql:///db?host=/tmp", "postgresql://u@[::1]:5/db", "host=@x port=5,6",
      "postgresql://u:p%40s%2Fs%25@db.example/app?sslmode=require", "host=db password='p@s/s #%'",
      "postgresql://u:p#s@h/db",
    ])
  func usable(conninfo: String) {
    #expect(PostgresConfiguration.fault(of: conninfo) == nil)
  }

  @Test(
    "a string that libpq refuses, now or when it connects, is a fault in which nothing of it stands",
    arguments: [
      ("postgresql://u:hunter2@h/d?pgbouncer=true", "libpq"),
      ("postgresql://u:hunter2@h/d?sslmode=no-verify", "sslmode"),
      ("host=h password=hunter2 x", "libpq"), ("host=h password='hunter2", "libpq"),
      ("host=h hunter2=x", "libpq"), ("postgresql://u:hunter2@h:99999/d", "port"),
      ("postgresql://u:p@hunter2@h/d", "host"),
      ("postgresql://u:hunter2/x@h/d", "port"), ("postgresql://u:12/hunter2@h/d", "database"),
      ("host=hunter2# user=u", "host"),
      ("postgresql://u:hunter2@h/d?target_session_attrs=any-one", "target_session_attrs"),
      ("postgresql://u:hunter2@h/d?channel_binding=yes", "channel_binding"), ("postgresql://u:hunter2%@h/d", "libpq"),
    ])
  func unusable(conninfo: String, named: String) throws {
    let fault = try #require(PostgresConfiguration.fault(of: conninfo))
    #expect(fault.contains(named) && !fault.contains("hunter2"))
  }

  @Test("a password of any characters in a URI either stays whole, or the string is refused")
  func passwords() throws {
    let marks = Array("@#/?%:[]&=' \"\\,;+")
    for start in ["pw", "12"] {
      for one in marks {
        for other in marks {
          let password = "\(start)\(one)x\(other)z"
          let conninfo = "postgresql://u:\(password)@db.example:5432/app"
          guard PostgresConfiguration.fault(of: conninfo) == nil else { continue }
          let parameters = try parameters(conninfo)
          #expect(parameters.keywords["password"] == password, "\(conninfo)")
          #expect(
            parameters.targets == [ConnectionTarget(host: "db.example", address: "", port: "5432")], "\(conninfo)")
        }
      }
    }
  }
}

@Suite("Errors")
struct PostgresErrorTests {
  @Test("a description names condition, statement and constraint, and nothing that came in as data")
  func description() {
    let error = PostgresError(
      .server,
      context: .init(
        sqlState: .uniqueViolation, message: "duplicate key", constraint: "devices_token_key")
    ).of(statement: "register")
    #expect(
      error.description
        == "the database refused the statement (SQLSTATE 23505), statement register, constraint devices_token_key")
    #expect(error.debugDescription.hasSuffix(": duplicate key"))
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
    #expect(!SQLState.uniqueViolation.isRetryable && SQLState("57P01").isOperatorIntervention)
  }
}

@Suite("What functions raise", .serialized)
struct RaisedErrorTests {
  private static let raise = PostgresStatement(
    "raise", "select 1 from (select pg_temp.quote_row('words-of-a-message')) q")

  @Test("stands in no description of an error, and in no line about a notice")
  func hidden() async throws {
    let lines = LogLines()
    try await withConnection(logger: lines.logger) { connection, reactor in
      try await connection.simple(
        """
        create function pg_temp.quote_row(words text) returns text language plpgsql as $$
        begin
          raise warning 'seen: %', words;
          raise exception 'refused: %', words using detail = words, hint = words, errcode = '42P01';
        end $$
        """, on: reactor)
      let error = try await failure { try await connection.query(Self.raise, on: reactor) }
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
