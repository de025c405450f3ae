import Postgres
import Reactors
import TestPostgres
import TestProcesses
import TestReactors
import Testing

@Suite("Statements on one connection")
struct PostgresConnectionQueryTests {
  private let divide = PostgresStatement("divide", "select 10 / $1", [.int8])

  @Test("an error in the middle of a pipeline hits only itself")
  func errorIsAlone() async throws {
    try await withConnection { connection, reactor in
      let answers = try await inParallel(5, on: reactor) { number -> Int? in
        do throws(PostgresError) {
          return try await connection.query(divide, [number - 2], on: reactor).one().decode(0)
        } catch {
          #expect(error.code == .server && error.sqlState == "22012" && error.statement == "divide")
          return nil
        }
      }
      #expect(answers == [-5, -10, nil, 10, 5])
      #expect(connection.statementsAnswered == 5)
    }
  }

  @Test("a statement is prepared once on a connection")
  func preparedOnce() async throws {
    try await withConnection { connection, reactor in
      for number in 0..<3 { try await connection.query(echo, [number], on: reactor) }
      let count = PostgresStatement("count", "select count(*) from pg_prepared_statements where name = 'echo'")
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 1)
    }
  }

  @Test("a statement that could not be prepared is prepared when its table exists")
  func preparedLater() async throws {
    try await withConnection { connection, reactor in
      let read = PostgresStatement("read", "select a from pg_temp.later")
      let error = try await failure { try await connection.prepare(read, on: reactor) }
      #expect(error.sqlState == .undefinedTable)
      try await connection.simple("create table pg_temp.later as select 7 as a", on: reactor)
      try await connection.prepare(read, on: reactor)
      #expect(try await connection.query(read, on: reactor).one().decode("a") == 7)
    }
  }

  @Test("an error that only the commit finds is the statement's error")
  func deferredConstraint() async throws {
    try await withConnection { connection, reactor in
      try await connection.simple(
        "create table pg_temp.pairs (a int constraint once unique deferrable initially deferred)", on: reactor)
      let insert = PostgresStatement("insert", "insert into pg_temp.pairs values ($1)", [.int4])
      #expect(try await connection.query(insert, [1], on: reactor).affectedCount == 1)
      let error = try await failure { try await connection.query(insert, [1], on: reactor) }
      #expect(error.sqlState == .uniqueViolation && error.constraint == "once")
      #expect(!error.debugDescription.contains("(1)"))
      try await connection.query(one, on: reactor)
    }
  }

  @Test("more statements than the bound are refused, and the others answered")
  func bound() async throws {
    try await withConnection({ $0.pendingStatementsMax = 3 }) { connection, reactor in
      let answers = try await inParallel(5, on: reactor) { number -> Int? in
        do throws(PostgresError) {
          return try await connection.query(echo, [number], on: reactor).one().decode(0)
        } catch {
          #expect(error.code == .tooManyPending)
          return nil
        }
      }
      #expect(answers == [0, 1, 2, nil, nil])
    }
  }

  @Test("an answer of many megabytes arrives, and a parameter as large")
  func large() async throws {
    try await withConnection { connection, reactor in
      let text = String(repeating: "tacet ", count: 2_000_000)
      let statement = PostgresStatement("large", "select $1, length($1)", [.text])
      let row = try await connection.query(statement, [text], on: reactor).one()
      #expect(try row.decode(0) == text)
      #expect(try row.decode(1) == text.utf8.count)
    }
  }

  @Test("the server ends a statement that runs longer than the limit; the connection goes on")
  func statementLimit() async throws {
    try await withConnection({ $0.statementLimit = .milliseconds(500) }) { connection, reactor in
      let error = try await failure { try await connection.query(sleepStatement, [10.0], on: reactor) }
      #expect(error.code == .server && error.sqlState == .queryCanceled)
      try await connection.query(one, on: reactor)
    }
  }

  @Test("a caller that has waited long enough leaves; what comes after it is answered")
  func answerLimit() async throws {
    try await withConnection { connection, reactor in
      let error = try await failure {
        try await connection.query(sleepStatement, [0.2], within: .milliseconds(20), on: reactor)
      }
      #expect(error.code == .timedOut && error.statement == "sleep")
      #expect(try await connection.query(echo, [3], on: reactor).one().decode(0) == 3)
      #expect(connection.isOpen)
    }
  }

  @Test("a session has the settings of its configuration")
  func sessionSettings() async throws {
    try await withConnection({
      $0.commitsAsynchronously = true
      $0.settings = ["work_mem": "8MB"]
      $0.searchPath = "pg_catalog, \"odd \\ name\", pg_temp"
    }) { connection, reactor in
      let show = PostgresStatement("show", "select current_setting($1)", [.text])
      let expected = [
        "synchronous_commit": "off", "work_mem": "8MB", "TimeZone": "UTC", "statement_timeout": "5s",
        "application_name": "tacet", "search_path": "pg_catalog, \"odd \\ name\", pg_temp",
      ]
      for (name, value) in expected {
        let found: String = try await connection.query(show, [name], on: reactor).one().decode(0)
        #expect(found == value)
      }
    }
  }

  @Test("no job from another thread reaches the reactor while statements run")
  func staysOnThread() async throws {
    try await withConnection { connection, reactor in
      try await connection.query(echo, [0], on: reactor)
      let before = reactor.executor.jobsFromOtherThreads
      _ = try await inParallel(10, on: reactor) { number in
        for _ in 0..<100 { try await connection.query(echo, [number], on: reactor) }
        return number
      }
      #expect(connection.statementsAnswered == 1001)
      #expect(reactor.executor.jobsFromOtherThreads == before)
    }
  }

  @Test("a column that is absent or of another type is named in the error")
  func decodingErrors() async throws {
    try await withConnection { connection, reactor in
      let row = try await connection.query(PostgresStatement("typed", "select 1 as a"), on: reactor).one()
      let wrong = try await failure { _ = try row.decode("a", as: String.self) }
      #expect(wrong.code == .decoding && wrong.message == "column a is integer, not a readable String")
      let absent = try await failure { _ = try row.decode("b", as: Int.self) }
      #expect(absent.message == "there is no column b")
      #expect(throws: PostgresError.self) { try row.decode(1, as: Int.self) }
    }
  }
}

@Suite("Scripts")
struct PostgresConnectionScriptTests {
  private let count = PostgresStatement("count", "select count(*) from pg_temp.t")

  private func withTable(
    _ body: @escaping @Sendable (PostgresConnection, isolated Reactor) async throws -> Void
  ) async throws {
    try await withConnection { connection, reactor in
      try await connection.simple(
        "create table pg_temp.t (a int primary key); insert into pg_temp.t values (1)", on: reactor)
      try await body(connection, reactor)
    }
  }

  @Test("a script of several statements runs between pipelined ones")
  func script() async throws {
    try await withTable { connection, reactor in
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 1)
      try await connection.simple("insert into pg_temp.t values (2); ; select * from pg_temp.t", on: reactor)
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 2)
    }
  }

  @Test("a script that fails leaves nothing behind, and the connection goes on")
  func failingScript() async throws {
    try await withTable { connection, reactor in
      let error = try await failure {
        try await connection.simple("insert into pg_temp.t values (3); insert into pg_temp.t values (1)", on: reactor)
      }
      #expect(error.sqlState == .uniqueViolation)
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 1)
    }
  }

  @Test("a script waits for what is pending, and refuses what comes meanwhile")
  func scriptAlone() async throws {
    try await withTable { connection, reactor in
      let done = Signal()
      reactor.start {
        _ = try? await connection.query(sleepStatement, [0.05], on: reactor)
        done.signal(on: reactor)
      }
      await Task.yield()
      #expect(connection.pendingCount == 1)
      reactor.start {
        await reactor.sleep(for: .milliseconds(100))
        let error = try? await failure { try await connection.query(one, on: reactor) }
        #expect(error?.code == .tooManyPending)
      }
      try await connection.simple("select pg_sleep(1.5)", on: reactor)
      #expect(await done.wait(for: .zero, on: reactor))
    }
  }

  @Test("a COPY in a script ends the connection instead of hanging it")
  func copy() async throws {
    try await withTable { connection, reactor in
      let error = try await failure { try await connection.simple("copy pg_temp.t from stdin", on: reactor) }
      #expect(error.code == .connectionLost)
      #expect(!connection.isOpen)
    }
  }
}

@Suite("Connecting")
struct PostgresConnectionConnectTests {
  private func connect(_ conninfo: String, limit: Duration = patience) async throws {
    try await withConnection(to: conninfo, { $0.connectLimit = limit }) { connection, reactor in
      try await connection.query(one, on: reactor)
    }
  }

  @Test(
    "TCP with a password, by number, by a name that is resolved first and by a URI",
    arguments: ["127.0.0.1", "localhost"])
  func tcp(host: String) async throws {
    let server = try await TestPostgres.shared
    try await connect(server.tcpConninfo(host: host))
    try await connect("postgresql://postgres:\(TestPostgres.password)@\(host):\(server.port)/postgres?sslmode=disable")
  }

  @Test(
    "what keeps a session from being made is an error that says so, and nowhere shows the password",
    arguments: [
      ("password", SQLState.invalidPassword), ("database", .invalidCatalogName), ("port", nil), ("name", nil),
    ] as [(String, SQLState?)])
  func refused(what: String, state: SQLState?) async throws {
    let server = try await TestPostgres.shared
    let port = try reservedPort()
    let error = try await failure {
      switch what {
      case "password": try await connect(server.tcpConninfo(password: "hunter2"))
      case "database": try await connect(server.conninfo(database: "absent"))
      case "port": try await connect("host=127.0.0.1 port=\(port) user=postgres")
      default: try await connect("host=no.such.invalid user=postgres")
      }
    }
    #expect(error.code == .notConnected && error.sqlState == state)
    #expect(!error.debugDescription.contains("hunter2"))
    if what == "name" { #expect(error.message.contains("no.such.invalid")) }
  }

  @Test("a server that never answers is given up at the limit")
  func blackHole() async throws {
    let hole = try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0)))
    let clock = ContinuousClock()
    let start = clock.now
    let error = try await failure {
      try await connect("host=127.0.0.1 port=\(hole.address.port) user=postgres", limit: .milliseconds(100))
    }
    #expect(error.code == .timedOut)
    #expect(clock.now - start >= .milliseconds(100))
  }

  @Test("a host that never answers does not keep the next one from being tried")
  func blackHoleFirst() async throws {
    let hole = try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0)))
    defer { withExtendedLifetime(hole) {} }
    let server = try await TestPostgres.shared
    try await connect(
      "host=127.0.0.1,127.0.0.1 port=\(hole.address.port),\(server.port) user=postgres dbname=postgres "
        + "password=\(TestPostgres.password)")
  }

  @Test("of several hosts the one that takes writes is found")
  func targetSession() async throws {
    let server = try await TestPostgres.shared
    let readOnly = try await TestPostgres.launch(settings: ["default_transaction_read_only=on"])
    let hosts = "host=\(readOnly.folder),\(server.folder) port=\(readOnly.port),\(server.port) user=postgres"
    try await withConnection(to: hosts + " target_session_attrs=read-write") { connection, reactor in
      let found: Int = try await connection.query(port, on: reactor).one().decode(0)
      #expect(found == Int(server.port))
    }
  }

  @Test(
    "a string that is no connection string is refused without being quoted",
    arguments: ["postgresql://user:hunter2@[::1/x", "hunter2", "host='hunter2", "postgresql://u@h/d?hunter=2"])
  func malformed(conninfo: String) async throws {
    let error = try await failure { try await connect(conninfo) }
    #expect(error.code == .invalidConfiguration)
    #expect(!error.debugDescription.contains("hunter2"))
  }
}
