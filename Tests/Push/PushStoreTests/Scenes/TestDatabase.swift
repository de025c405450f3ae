import Foundation
import Logging
package import Postgres
import PushRules
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import TestReactors
import TestRepository
internal import Testing

@testable import PushStore

/// A database for one test alone, on the cluster that the tests of this process share.
struct TestDatabase: Sendable {
  private static let template = Task {
    let database = try await TestDatabase.withHostTables()
    try await database.apply(Repository.install)
    return database
  }

  private let scratch: ScratchDatabase
  /// Whom the store works as; its owner when nil.
  var role: String?

  /// A database with nothing in it.
  static func empty() async throws -> TestDatabase { try await TestDatabase(from: "template1") }

  /// A database with the tables of the default host contract, and no migration.
  static func withHostTables() async throws -> TestDatabase {
    let database = try await empty()
    try await database.apply(Repository.hostTables)
    return database
  }

  /// A database to which every migration was applied.
  static func migrated() async throws -> TestDatabase { try await TestDatabase(from: try await template.value.name) }

  private init(from template: String) async throws {
    scratch = try await TestPostgres.shared.makeScratchDatabase(from: template)
  }

  var server: TestPostgres { scratch.server }
  var name: String { scratch.name }

  var configuration: PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: server.conninfo(database: name))
    configuration.chosenTypes = IDTypes.tested.postgresTypes
    configuration.settings = PushDatabase.serviceSettings
    if let role { configuration.settings["role"] = role }
    return configuration
  }

  /// Runs statements in one transaction, through a session of their own.
  /// - Returns: the rows, their columns separated by `|`; notices stand before them.
  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(IDTypes.tested(text), database: name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// What `pg_dump` writes of the schema.
  func dumpSchema(_ options: [String] = []) async throws -> String { try await server.dumpSchema(of: name, options) }

  /// Migrates as `tacet migrate --create-host-tables` does.
  func migrate(functions: [FunctionFile] = FunctionFile.all) async throws {
    var configuration = configuration
    configuration.connectLimit = patience
    let log = quiet
    try await onReactor { [configuration] reactor in
      try await Migrator.run(
        Migration.all, functions: functions, in: configuration, createsHostTables: true, ids: .tested, logger: log,
        on: reactor
      ) { _, _ in }
    }
  }

  /// What `psql -f` does with a file.
  @discardableResult
  func apply(_ file: URL) async throws -> String {
    try await server.psql("\\i '\(try IDTypes.tested(file).path)'", database: name)
  }
}

let quiet = RunLogs.logger

/// One of several sessions of a test, to be led step by step.
struct Session {
  let connection: PostgresConnection
  /// The server process, as locks and statistics name it.
  let processID: String

  static func open(_ database: TestDatabase, on reactor: isolated Reactor) async throws -> Session {
    var configuration = database.configuration
    configuration.connectLimit = patience
    configuration.statementLimit = nil
    let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
    let statement = PostgresStatement("pid", "select pg_backend_pid()::text")
    return Session(
      connection: connection, processID: try await connection.query(statement, on: reactor).one().decode(0))
  }

  /// Runs statements whose rows do not matter.
  func run(_ sql: String, on reactor: isolated Reactor) async throws {
    try await connection.simple(IDTypes.tested(sql), on: reactor)
  }

  /// The value of an expression as text; nil for a null.
  func value(_ expression: String, on reactor: isolated Reactor) async throws -> String? {
    let statement = PostgresStatement("value_\(expression.hashValue)", IDTypes.tested("select (\(expression))::text"))
    return try await connection.query(statement, on: reactor).one().decode(0, as: String?.self)
  }

  /// The rows of a query as one text: rows by lines, columns as PostgreSQL shows a record.
  func rows(_ query: String, on reactor: isolated Reactor) async throws -> String {
    try await value("select string_agg(r::text, E'\\n') from (\(query)) r", on: reactor) ?? ""
  }

  /// Returns once another session waits for a lock.
  func awaitBlocked(_ other: Session, on reactor: isolated Reactor) async throws {
    try await awaitTrue("select cardinality(pg_blocking_pids(\(other.processID))) > 0", on: reactor)
  }

  /// Returns once a query says true. There is no event to wait on but the server's own view of its sessions.
  func awaitTrue(_ query: String, on reactor: isolated Reactor) async throws {
    let deadline = ContinuousClock.now + patience
    while try await value(query, on: reactor) != "true" { try #require(ContinuousClock.now < deadline, "\(query)") }
  }
}

/// Opens sessions, and closes them at the end.
func withSessions(
  _ database: TestDatabase, _ count: Int,
  _ body: @escaping @Sendable ([Session], isolated Reactor) async throws -> Void
) async throws {
  try await onReactor { reactor -> Void in
    var sessions: [Session] = []
    for _ in 0..<count { sessions.append(try await Session.open(database, on: reactor)) }
    let result: Result<Void, any Error>
    do {
      try await body(sessions, reactor)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    for session in sessions { session.connection.close(on: reactor) }
    try result.get()
  }
}

/// Opens two sessions, and closes them at the end.
func withTwoSessions(
  _ database: TestDatabase, _ body: @escaping @Sendable (Session, Session, isolated Reactor) async throws -> Void
) async throws {
  try await withSessions(database, 2) { sessions, reactor in try await body(sessions[0], sessions[1], reactor) }
}

/// Opens a connection, and closes it at the end.
func onConnection<Value: Sendable>(
  to database: TestDatabase, _ body: @escaping @Sendable (PostgresConnection, isolated Reactor) async throws -> Value
) async throws -> Value {
  try await onReactor { reactor in
    let session = try await Session.open(database, on: reactor)
    defer { session.connection.close(on: reactor) }
    return try await body(session.connection, reactor)
  }
}

/// Opens a store over a pool of its own, and closes it at the end.
func withStore<Value: Sendable>(
  _ database: TestDatabase, sessions: Int = 1,
  _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Value
) async throws -> Value {
  try await onReactor { reactor in
    let pool = PostgresPool(database.configuration, size: sessions, acquireLimit: patience, logger: quiet)
    pool.start(on: reactor)
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(PushDatabase(pool: pool), reactor))
    } catch {
      result = .failure(error)
    }
    await pool.close(on: reactor)
    return try result.get()
  }
}

/// Claims everything that waits, or less.
func claim(
  _ database: TestDatabase, eventsMax: Int = 1000, lease: Duration = .seconds(60)
) async throws -> [PushEvent] {
  try await withStore(database) { store, reactor in
    try await store.claim(ClaimLimits(eventsMax: eventsMax, deliveriesMax: 1000, lease: lease), on: reactor)
  }
}

/// Takes the new messages, as their owner does.
func claimMessages(_ database: TestDatabase) async throws -> [PushEvent] {
  let limits = ClaimLimits(eventsMax: 100, deliveriesMax: 100, lease: .seconds(30))
  return try await withStore(database) { try await $0.claimMessages(limits, on: $1) }
}

/// Work begun on the reactor whose result is asked for later.
final class Begun<Value> {
  private var result: Result<Value, any Error>?
  private let done = Signal()

  /// Begins when the caller suspends.
  static func begin(on reactor: isolated Reactor, _ work: @escaping () async throws -> Value) -> Begun {
    let begun = Begun()
    reactor.start {
      do {
        begun.result = .success(try await work())
      } catch {
        begun.result = .failure(error)
      }
      begun.done.signal(on: reactor)
    }
    return begun
  }

  var isFinished: Bool { result != nil }

  func value(on reactor: isolated Reactor) async throws -> Value {
    if result == nil { try #require(await done.wait(for: patience, on: reactor)) }
    return try #require(result).get()
  }
}

/// Longer than anything takes on a busy machine; only a failing test waits so long.
let patience = Duration.seconds(30)

extension PostgresError: CustomTestStringConvertible {
  /// A failing test shows the server's message as well.
  package var testDescription: String { debugDescription }
}

/// What a database's schema consists of, as text that can be compared.
enum Catalog {
  /// Relations with their columns, options and rights; indexes, constraints, triggers, policies, functions, comments.
  static func dump(of database: TestDatabase) async throws -> String {
    var sections: [String] = []
    for part in parts { sections.append(try await database.sql(part)) }
    return sections.joined(separator: "\n\n")
  }

  private static let ours = "in ('public'::regnamespace, 'tacet'::regnamespace)"

  private static let parts = [
    "select nspname, nspacl, obj_description(oid) from pg_namespace where oid \(ours) order by 1",
    """
    select oid::regclass, relkind, relrowsecurity, relacl, reloptions, obj_description(oid) from pg_class
    where relnamespace \(ours) order by oid::regclass::text
    """,
    """
    select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid in (select oid from pg_class where relnamespace \(ours)) and attnum > 0
    order by attrelid::regclass::text, attnum
    """,
    "select indexdef from pg_indexes where schemaname in ('public', 'tacet') order by 1",
    "select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace \(ours) order by 1, 2",
    "select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1",
    "select * from pg_policies order by policyname",
    "select oid::regprocedure, proacl, pg_get_functiondef(oid) from pg_proc where pronamespace \(ours) order by oid::regprocedure::text",
  ]
}
