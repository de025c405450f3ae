import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@Suite("Connecting")
struct PostgresConnectionConnectTests {
  private func connect(_ conninfo: String, limit: Duration = .seconds(5)) async throws {
    try await onReactor { reactor in
      var configuration = PostgresConfiguration(conninfo: conninfo)
      configuration.connectLimit = limit
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      try await connection.query(one, on: reactor)
      connection.close(on: reactor)
    }
  }

  @Test("TCP with a password, by number and by a name that is resolved first", arguments: ["127.0.0.1", "localhost"])
  func tcp(host: String) async throws {
    try await connect(await TestPostgres.shared.tcpConninfo(host: host))
  }

  @Test("a URI is a connection string too")
  func uri() async throws {
    let server = try await TestPostgres.shared
    try await connect(
      "postgresql://postgres:\(TestPostgres.password)@127.0.0.1:\(server.port)/postgres?sslmode=disable")
  }

  @Test("a wrong password is an error that says so, and nowhere shows the password")
  func wrongPassword() async throws {
    let error = try await failure { try await connect(await TestPostgres.shared.tcpConninfo(password: "hunter2")) }
    #expect(error.code == .notConnected && error.sqlState == .invalidPassword)
    #expect(!error.debugDescription.contains("hunter2"))
  }

  @Test("a database that does not exist is an error that says so")
  func missingDatabase() async throws {
    let error = try await failure { try await connect(await TestPostgres.shared.conninfo(database: "absent")) }
    #expect(error.code == .notConnected && error.sqlState == .invalidCatalogName)
  }

  @Test("a port where nobody listens refuses at once")
  func refused() async throws {
    let port = try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0))).address.port
    let error = try await failure { try await connect("host=127.0.0.1 port=\(port) user=postgres") }
    #expect(error.code == .notConnected)
  }

  @Test("a name without an address is an error that names it")
  func unknownName() async throws {
    let error = try await failure { try await connect("host=no.such.invalid user=postgres") }
    #expect(error.code == .notConnected && error.message.contains("no.such.invalid"))
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
    let server = try await TestPostgres.shared
    try await connect(
      "host=127.0.0.1,127.0.0.1 port=\(hole.address.port),\(server.port) user=postgres dbname=postgres "
        + "password=\(TestPostgres.password)", limit: .seconds(2))
  }

  @Test("of several hosts the one that takes writes is found")
  func targetSession() async throws {
    let server = try await TestPostgres.shared
    let readOnly = try await TestPostgres.launch(settings: ["default_transaction_read_only=on"])
    let hosts = "host=\(readOnly.folder),\(server.folder) port=\(readOnly.port),\(server.port) user=postgres"
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: hosts + " target_session_attrs=read-write")
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      let port = PostgresStatement("port", "select current_setting('port')::int")
      #expect(try await connection.query(port, on: reactor).one().decode(0) == Int(server.port))
      connection.close(on: reactor)
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
