package import Logging
package import Postgres
internal import PushRules
package import Reactors

/// Brings a database's schema up to date.
package enum Migrator {
  package enum Outcome: Sendable {
    /// Applied now, in its own transaction.
    case applied
    /// Applied earlier, by this program or, for a migration, by psql.
    case alreadyApplied
    /// Not applied yet: another transaction holds a lock that it needs. The migrator tries again.
    case waiting
  }

  /// The step after the migrations, as it is reported.
  package static let functionsStep = "functions"

  /// The SQLSTATE by which a migration refuses a host that it cannot serve. The error's message then says what is wrong,
  /// and what to do, without any value of a row.
  package static let notWired: SQLState = "TC001"

  /// How long a step waits for a lock. The host's inserts on that table wait behind it as long.
  private static let lockLimit = Duration.seconds(2)

  /// The pauses between tries for a lock, so that others can work.
  private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(3), .seconds(4)]

  /// Applies what is missing while no other migrator can: each migration in its own transaction, in order, then all files of
  /// `db/functions` whose text changed since they were last applied, in one.
  ///
  /// A file that fails changes nothing, and ends the run. A transaction that does not get a lock within two seconds, or whose
  /// locks make a deadlock with others', is tried five times. The end writes which database it is, unless that is known, and
  /// reads the server's time zones.
  /// - Parameters:
  ///   - createsHostTables: whether a first installation also creates the host's tables that are missing.
  ///   - ids: the types of ids that a first installation is to have.
  ///   - notice: called with what a file raises or the server warns of: what the host has to do itself.
  ///   - report: called with the name of each step after its transaction, and before another try.
  /// - Throws: ``PostgresError``, of the connection or of the failing file; SQLSTATE 55P03 after the last try for a lock.
  package static func run(
    _ migrations: [Migration] = Migration.all, in configuration: PostgresConfiguration, createsHostTables: Bool,
    ids: IDTypeWishes = IDTypeWishes(), logger: Logger, on reactor: isolated Reactor,
    notice: (@Sendable (String) -> Void)? = nil, report: (String, Outcome) -> Void
  ) async throws(PostgresError) {
    try await run(
      migrations, functions: FunctionFile.all, in: configuration, createsHostTables: createsHostTables, ids: ids,
      logger: logger, on: reactor, notice: notice, report: report)
  }

  /// - Parameter functions: the files of `db/functions`, in the order of their names.
  static func run(
    _ migrations: [Migration], functions: [FunctionFile], in configuration: PostgresConfiguration,
    createsHostTables: Bool, ids: IDTypeWishes = IDTypeWishes(), logger: Logger, on reactor: isolated Reactor,
    notice: (@Sendable (String) -> Void)? = nil, report: (String, Outcome) -> Void
  ) async throws(PostgresError) {
    var configuration = configuration
    configuration.applicationName = "tacet migrate"
    configuration.statementLimit = nil
    configuration.noticeHandler = notice
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    let encoding = try await connection.query(PushStatements.lockMigrations, on: reactor).one().decode(
      0, as: String.self)
    // The baseline says it too, but has characters that such a server cannot even read.
    guard encoding == "UTF8" else {
      throw await connection.refusal(ofEncoding: encoding, on: reactor)
    }
    // By name: a schema from before the baseline is refused by the baseline.
    let applied = Set(try await AppliedMigration.all(over: connection, on: reactor)?.map(\.name) ?? [])
    let types = try await IDTypes.choose(ids, isInstalled: !applied.isEmpty, over: connection, on: reactor)
    let migrations = migrations.map { $0.written(with: types) }
    var tables = ids.setting + (createsHostTables && applied.isEmpty ? types.written(into: Migration.hostTables) : "")
    for migration in migrations {
      if applied.contains(migration.name) {
        report(migration.name, .alreadyApplied)
      } else {
        try await applyPatiently(tables + migration.sql, over: connection, on: reactor) {
          report(migration.name, .waiting)
        }
        tables = ""
        report(migration.name, .applied)
      }
    }
    let changed = try await changedFunctions(
      among: functions.map { $0.written(with: types) }, over: connection, on: reactor)
    let new = migrations.filter { !applied.contains($0.name) }
    let isDone = changed.isEmpty && new.isEmpty
    let finish = isDone ? "select tacet.learn_time_zones();" : "call tacet.finish_applying();"
    try await applyPatiently(changed + finish, over: connection, on: reactor) { report(functionsStep, .waiting) }
    _ = try await connection.query(
      .recordChecksums(versions: new.map { Int32($0.version) }, texts: new.map(\.sql)), on: reactor)
    report(functionsStep, changed.isEmpty ? .alreadyApplied : .applied)
  }

  /// What ``run(_:in:createsHostTables:ids:logger:on:notice:report:)`` applies to a database, as a script for psql in one
  /// transaction. Applied again it changes nothing, except that functions get the bodies of these files.
  /// - Parameters:
  ///   - createsHostTables: whether it also creates the tables of the default host contract.
  ///   - ids: uuids where nothing is asked for.
  package static func script(createsHostTables: Bool, ids: IDTypeWishes = IDTypeWishes()) -> String {
    let types = ids.types(otherwise: IDTypes())
    let files =
      (createsHostTables ? [Migration.hostTables] : []) + Migration.all.map(\.sql) + FunctionFile.all.map(\.text)
    return """
      -- Written by tacet migrate --print. For psql -X -f.

      \\set ON_ERROR_STOP on
      begin;
      -- The host's inserts wait as long as this transaction waits for a lock. On a timeout, run it again.
      set local lock_timeout = '\(lockLimit.components.seconds) s';
      do $$ begin perform pg_advisory_xact_lock(1952539493, 2); end $$;

      \(ids.setting)\(types.written(into: files.joined(separator: "\n")))
      -- The next tacet migrate compares nothing with what it applied before this.
      delete from tacet.function_files;
      call tacet.finish_applying();
      commit;

      """
  }

  /// A script that applies the files that changed, and writes which these were; empty when none did.
  private static func changedFunctions(
    among files: [FunctionFile], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> String {
    var script = ""
    for row in try await FunctionFile.examine(files, over: connection, on: reactor) {
      let file = files[Int(try row.decode(0, as: Int32.self))]
      script += """
        \(file.text)
        insert into tacet.function_files (name, checksum) values ('\(file.name)', '\(try row.decode(1, as: String.self))')
        on conflict (name) do update set applied_at = now(), checksum = excluded.checksum;

        """
    }
    return script
  }

  private static func applyPatiently(
    _ sql: String, over connection: PostgresConnection, on reactor: isolated Reactor, reportWaiting: () -> Void
  ) async throws(PostgresError) {
    for pause in pauses {
      do throws(PostgresError) {
        return try await apply(sql, over: connection, on: reactor)
      } catch  where [.lockNotAvailable, .deadlockDetected].contains(error.sqlState) {
        reportWaiting()
        await reactor.sleep(for: pause)
      }
    }
    try await apply(sql, over: connection, on: reactor)
  }

  private static func apply(
    _ sql: String, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    do throws(PostgresError) {
      try await connection.simple(
        "begin;\nset local lock_timeout = '\(lockLimit.components.seconds) s';\n\(sql)\ncommit;", on: reactor)
    } catch {
      try? await connection.simple("rollback", on: reactor)
      throw error
    }
  }
}

extension PostgresConnection {
  /// Of a database that cannot hold every text.
  func refusal(ofEncoding encoding: String, on reactor: isolated Reactor) async -> PostgresError {
    await refusal("not wired: the encoding of the database is \(encoding), and Tacet needs UTF8", on: reactor)
  }

  /// The server's own error, as a file of `db/migrations` raises it.
  func refusal(_ message: String, on reactor: isolated Reactor) async -> PostgresError {
    do throws(PostgresError) {
      try await simple(
        "do $$ begin raise exception '\(message)' using errcode = '\(Migrator.notWired)'; end $$", on: reactor)
    } catch {
      return error
    }
    preconditionFailure("an exception was raised and not reported")
  }
}
