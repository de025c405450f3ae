import Foundation
import Synchronization
import TestProcesses

/// A private PostgreSQL cluster in a temporary folder, for tests.
///
/// The server is a child of a small shell process that waits on a pipe from here: however this process ends, the pipe
/// closes, the shell stops the server and removes the folder. As root the server runs as an unprivileged account.
package final class TestPostgres: Sendable {
  /// How a server is told to stop; see "Shutting Down the Server" in the manual.
  package enum ShutdownMode: Int32, Sendable {
    /// Waits for sessions to end.
    case smart = 15
    /// Ends sessions, then stops.
    case fast = 2
    /// Stops without a checkpoint; the next start recovers.
    case immediate = 3
  }

  /// The cluster's folder, which also has the Unix socket.
  package let folder: String

  /// The port, also of the Unix socket. TCP on 127.0.0.1 asks for a password; the socket does not.
  package let port: UInt16

  /// The superuser's password over TCP.
  package static let password = "secret-of-the-tests"

  let options: [String]
  let watchdog = Mutex<Watchdog?>(nil)
  private let databases = Mutex(0)
  private let templates = Mutex<Set<String>>([])
  private let idle = Mutex(IdleSessions())
  private let template = Mutex<Task<String, any Error>?>(nil)

  /// The cluster that the tests of this process share; started by its first user, stopped with the process.
  package static var shared: TestPostgres {
    get async throws { try await sharedStart.value }
  }

  private static let sharedStart = Task { try await TestPostgres.launch() }

  /// Makes and starts a cluster.
  /// - Parameters:
  ///   - isDurable: whether commits wait for the disk; off for speed.
  ///   - settings: further server settings, `name=value`.
  package static func launch(isDurable: Bool = false, settings: [String] = []) async throws -> TestPostgres {
    try await onOwnThread { try TestPostgres(isDurable: isDurable, settings: settings) }
  }

  private init(isDurable: Bool, settings: [String]) throws {
    folder = try makeTemporaryFolder("test-postgres", isKept: true)
    port = try reservedPort()
    options = Self.options(in: folder, isDurable: isDurable, settings)
    try initialize()
    try startServer()
  }

  init(standbyOf primary: TestPostgres) throws {
    folder = try makeTemporaryFolder("test-postgres", isKept: true)
    port = try reservedPort()
    options = Self.options(in: folder, isDurable: false, [])
    try copy(primary)
    try startServer()
  }

  private static func options(in folder: String, isDurable: Bool, _ settings: [String]) -> [String] {
    // A worker that visits hundreds of databases in turn takes time from all of them; nothing here runs long enough to be compiled.
    let speed = ["fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off", "jit=off"]
    // An installation is one transaction with a lock for each object, and many tests make one at once.
    let always = [
      "listen_addresses=127.0.0.1", "unix_socket_directories=\(folder)", "max_connections=200",
      "max_locks_per_transaction=256",
    ]
    return (always + (isDurable ? [] : speed) + settings).flatMap { ["-c", $0] }
  }

  deinit {
    // Ends the pipe: the watchdog stops the server and removes the folder.
    let isRunning = watchdog.withLock { watchdog in
      defer { watchdog = nil }
      return watchdog != nil
    }
    if !isRunning { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// How to connect to a database over the Unix socket, as the superuser.
  package func conninfo(database: String = "postgres") -> String {
    "host=\(folder) port=\(port) user=postgres dbname=\(database)"
  }

  /// How to connect over TCP, with a password.
  package func tcpConninfo(
    database: String = "postgres", password: String = TestPostgres.password, host: String = "127.0.0.1"
  ) -> String {
    "host=\(host) port=\(port) user=postgres dbname=\(database) password=\(password)"
  }

  /// A new, empty database; its connection string.
  package func makeDatabase() async throws -> String {
    conninfo(database: try await makeDatabase(from: "template1"))
  }

  /// A new database that is like another one, for as long as it is kept.
  package func makeScratchDatabase(from template: String) async throws -> ScratchDatabase {
    ScratchDatabase(try await makeDatabase(from: template), on: self)
  }

  /// A new database that is like one that was prepared, for as long as it is kept.
  /// - Parameter prepare: gets an empty database and closes its connections. Runs once: all calls mean the same.
  package func makeScratchDatabase(preparedBy prepare: @escaping @Sendable (_ conninfo: String) async throws -> Void)
    async throws -> ScratchDatabase
  {
    let template = template.withLock { template in
      let task =
        template
        ?? Task {
          let name = try await makeDatabase(from: "template1")
          try await prepare(conninfo(database: name))
          return name
        }
      template = task
      return task
    }
    return try await makeScratchDatabase(from: try await template.value)
  }

  private func makeDatabase(from template: String) async throws -> String {
    let number = databases.withLock { number in
      number += 1
      return number
    }
    if templates.withLock({ $0.insert(template).inserted }) {
      // The first session after a change of the catalogue writes a file that spares later ones reading it, and that copies have.
      try await psql("", database: template)
    }
    endIdleSessions(with: template)
    let sql = "create database test_\(number) template \(template) \(Self.copying)"
    try await onOwnThread { _ = try self.runInKeptSession(sql, "postgres") }
    return "test_\(number)"
  }

  /// Files are copied, which takes half the time of writing their pages to the log. PostgreSQL 14 knows no other way and no word for it.
  private static let copying =
    (try? run(["pg_config", "--version"]))?.hasPrefix("PostgreSQL 14") == true ? "" : "strategy file_copy"

  /// Runs SQL as `psql` does; its unaligned output without headers.
  ///
  /// Read committed whatever the database's default is: a host or an observer who is no part of what is tested should
  /// not have to start again.
  @discardableResult
  package func psql(_ sql: String, database: String = "postgres") async throws -> String {
    let isScript = sql.hasPrefix("\\")
    if isScript || !IdleSessions.canServe(sql) {
      // A script of psql's own may set, for its database, what only new sessions see.
      endIdleSessions(with: isScript ? database : nil)
      return try await psql(sql, through: readCommitted(database))
    }
    return try await onOwnThread { try self.runInKeptSession(sql, database) }
  }

  private func readCommitted(_ database: String) -> String {
    conninfo(database: database) + #" options='-c default_transaction_isolation=read\\ committed'"#
  }

  /// Runs SQL in a session that other statements may have had before and others can have afterwards; blocks.
  @discardableResult
  func runInKeptSession(_ sql: String, _ database: String) throws -> String {
    let session = try idle.withLock { $0.take(database) } ?? PlainSession(readCommitted(database))
    let output = try session.run(sql)
    if session.forget() { idle.withLock { $0.keep(session, database) } }
    return output
  }

  /// Ends sessions that wait for statements of ``psql(_:database:)``, with one database or all.
  func endIdleSessions(with database: String? = nil) {
    idle.withLock { $0.end(database) }
  }

  /// The same over another connection, such as a pooler's.
  @discardableResult
  package func psql(_ sql: String, through conninfo: String) async throws -> String {
    try await onOwnThread {
      // Commands of psql's own, such as the one that reads a file.
      guard sql.hasPrefix("\\") else { return try PlainSession.run(sql, through: conninfo) }
      return try run(Self.psql + ["-d", conninfo, "-c", sql])
    }
  }

  /// Runs a script as `psql -f`: a transaction of its own for each statement that is in none.
  @discardableResult
  package func psql(script: String, database: String) async throws -> String {
    let file = folder + "/script-\(UUID()).sql"
    try script.write(toFile: file, atomically: false, encoding: .utf8)
    let conninfo = conninfo(database: database)
    return try await onOwnThread {
      defer { try? FileManager.default.removeItem(atPath: file) }
      return try run(Self.psql + ["-d", conninfo, "-f", file])
    }
  }

  private static let psql = [binaries + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]

  /// Where PostgreSQL's programs are.
  package static let binaries: String =
    (try? run(["pg_config", "--bindir"]).trimmingCharacters(in: .whitespacesAndNewlines)) ?? "/usr/bin"

  private func initialize() throws {
    let passwordFile = folder + "/password"
    try Self.password.write(toFile: passwordFile, atomically: false, encoding: .utf8)
    if isRoot { try run(["chown", "-R", account, folder]) }
    try run(
      asServer([
        Self.binaries + "/initdb", "-D", folder + "/data", "-U", "postgres", "--pwfile", passwordFile, "--no-sync",
        "--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8",
      ]))
  }
}
