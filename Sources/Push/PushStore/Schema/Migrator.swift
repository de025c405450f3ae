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
  /// `db/functions` and `db/campaigns` whose text changed since they were last applied, in one.
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
    _ migrations: [Migration] = Migration.all, functions: [FunctionFile] = FunctionFile.all,
    in configuration: PostgresConfiguration, createsHostTables: Bool, ids: IDTypeWishes = IDTypeWishes(),
    logger: Logger, on reactor: isolated Reactor,
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
    var applied = Set(try await AppliedMigration.all(over: connection, on: reactor)?.map(\.name) ?? [])
    let (types, isAnew) = try await IDTypes.choose(ids, isInstalled: !applied.isEmpty, over: connection, on: reactor)
    let removal = isAnew && !applied.isEmpty ? Migration.removal : ""
    if isAnew { applied = [] }
    let migrations = migrations.map { $0.written(with: types) }
    let hostTables = createsHostTables && applied.isEmpty ? types.written(into: Migration.hostTables) : ""
    var tables = removal + ids.setting + hostTables
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
      set local check_function_bodies = off;
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
    try await FunctionFile.examine(files, over: connection, on: reactor).map { file, checksum in
      """
      \(file.text)
      insert into tacet.function_files (name, checksum) values ('\(file.name)', '\(checksum)')
      on conflict (name) do update set applied_at = now(), checksum = excluded.checksum;

      """
    }.joined()
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
        """
        begin;
        set local lock_timeout = '\(lockLimit.components.seconds) s';
        set local check_function_bodies = off;
        \(sql)
        commit;
        """, on: reactor)
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

/// One file of `db/migrations`, built into the program.
package struct Migration: Sendable {
  /// The number in front of the file's name; versions are applied in order.
  package let version: Int

  /// The file's name without its ending, e.g. `0001_baseline`.
  package let name: String

  let sql: String

  init(name: String, text: String) {
    guard let version = Int(name.prefix(4)) else { preconditionFailure("\(name) does not begin with a version") }
    self.version = version
    self.name = name
    sql = text
  }

  /// The same file for a database whose ids have these types.
  func written(with types: IDTypes) -> Migration { Migration(name: name, text: types.written(into: sql)) }

  /// The tables of the default host contract, for a database without an application.
  package static let hostTables = SQLFiles.host[0].text

  /// Takes an installation away inside the transaction that makes it anew, with what `tacet init` has made beside it.
  static let removal = """
    \(SQLFiles.uninstall)
    drop schema if exists tacet_host cascade;
    set local client_min_messages = notice;

    """

  /// What `tacet init` fills with the tables of an application.
  package static let wiring = SQLFiles.host[1].text

  /// Every migration, in order.
  package static let all = SQLFiles.migrations.map(Migration.init)
}

/// One file of `db/functions` or `db/campaigns`, built into the program.
package struct FunctionFile: Sendable {
  /// The file's name without its ending, e.g. `wake`; of a campaign with its folder, e.g. `campaigns/coach`.
  let name: String

  let text: String

  /// The same file for a database whose ids have these types.
  func written(with types: IDTypes) -> FunctionFile { FunctionFile(name: name, text: types.written(into: text)) }

  /// Every file, in the order in which they are applied: functions by name, then campaigns, which name them.
  package static let all =
    SQLFiles.functions.map(FunctionFile.init)
    + SQLFiles.campaigns.map { Self(name: "campaigns/" + $0.name, text: $0.text) }

  /// The files that `tacet migrate` would apply, each with its checksum.
  static func examine(
    _ files: [FunctionFile], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(file: FunctionFile, checksum: String)] {
    let hidden = try await HiddenRows.look(
      at: ["messages", "conversation_participants", "profiles"], over: connection, on: reactor)
    return try await connection.query(
      .examineFunctionFiles(
        names: files.map(\.name), texts: files.map(\.text),
        hidden: hidden.columns + hidden.blocks), on: reactor
    ).map { row throws(PostgresError) in (files[try row.decode("place")], try row.decode("checksum")) }
  }
}

extension DatabaseExamination {
  /// The files of `db/functions` that differ from what `tacet migrate` has applied, by name. Empty also where psql applied
  /// them last, because that leaves no checksums.
  package func outdatedFunctions(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    let types = IDTypes(ofSessions: connection.configuration)
    let files = FunctionFile.all.map { $0.written(with: types) }
    let names = try await FunctionFile.examine(files, over: connection, on: reactor).map(\.file.name)
    return names.count == files.count ? [] : names
  }
}

package struct AppliedMigration: Equatable, Sendable, Decodable {
  package let version: Int

  /// The file's name without its ending.
  package let name: String

  /// The newest migration that a service beside it must know; nil for any service.
  package var oldestService: Int?

  /// All of a database, in order; nil without Tacet's schema, and empty where row-level security hides them.
  static func all(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [AppliedMigration]? {
    let rows = try await connection.query(PushStatements.hasMigrations, on: reactor)
    guard try rows.one().decode(0, as: Bool.self) else { return nil }
    return try await connection.query(PushStatements.appliedMigrations, on: reactor).decoded()
  }
}

/// Whether a service can work with a database's schema.
package enum SchemaSupport: Equatable, Sendable {
  case supported

  /// The database has a schema from before the first release, which lacks the baseline and cannot be upgraded.
  case unreleased

  /// The database lacks these migrations, by name.
  case tooOld(missing: [String])

  /// The database has a migration that needs a service which knows another one.
  case tooNew(version: Int, oldestService: Int)

  /// - Parameters:
  ///   - applied: the database's migrations.
  ///   - known: the service's, in order.
  package init(applied: [AppliedMigration], known: [Migration] = Migration.all) {
    let names = Set(applied.map(\.name))
    let missing = known.map(\.name).filter { !names.contains($0) }
    let newest = known.last?.version ?? 0
    let beyond = applied.first { $0.version > newest && ($0.oldestService ?? 0) > newest }
    if !applied.isEmpty, missing.first == known.first?.name {
      self = .unreleased
    } else if let beyond, let oldest = beyond.oldestService {
      self = .tooNew(version: beyond.version, oldestService: oldest)
    } else {
      self = missing.isEmpty ? .supported : .tooOld(missing: missing)
    }
  }

  /// Asks a database.
  /// - Returns: nil where row-level security hides the answer.
  package static func look(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SchemaSupport? {
    let applied = try await AppliedMigration.all(over: connection, on: reactor)
    return applied?.isEmpty == true ? nil : SchemaSupport(applied: applied ?? [])
  }
}

/// What hides rows of a host: the bodies of the functions in `db/functions/applying_to_hosts.sql`, run as statements, because
/// `tacet init` and the first `tacet migrate` look at databases that do not have the functions.
enum HiddenRows {
  /// Documents of columns that hide rows, and of tables of blocks, in an order of their own.
  /// - Parameter tables: those of schema public whose columns are looked at beside the tables of blocks; empty for all.
  static func look(
    at tables: [String], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (columns: [String], blocks: [String]) {
    var found: [String] = []
    var names: [String] = []
    for row in try await connection.query(blocks, on: reactor) {
      found.append(try row.decode(0, as: String.self))
      names.append(try row.decode(1, as: String.self))
    }
    var documents: [String] = []
    let looked = tables.isEmpty ? [] : tables + names
    for row in try await connection.query(columns, [looked], on: reactor) {
      // Only a table of blocks is read as one.
      let place: String = try row.decode(1)
      let table: String = try row.decode(2)
      guard place != "block" || names.contains(table) else { continue }
      documents.append(try row.decode(0, as: String.self))
    }
    return (documents, found)
  }

  static let columns = PostgresStatement(
    "hidden_rows",
    """
    select jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'place', r.place, 'name', r.column_name, 'before', r.before, 'after', r.after,
      'words', r.words, 'isWish', r.is_wish)::text,
      r.place, c.relname::text
    from (\(body(of: "hidden_rows"))) r (relation, place, column_name, before, after, words, is_wish)
    join pg_class c on c.oid = r.relation
    join pg_namespace n on n.oid = c.relnamespace
    order by n.nspname, c.relname, r.place, r.column_name
    """, [.array(of: .text)])

  static let blocks = PostgresStatement(
    "block_tables",
    """
    select jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'blocker', b.blocker_column, 'blocked', b.blocked_column)::text,
      c.relname::text
    from (\(body(of: "block_tables"))) b (relation, table_name, blocker_column, blocked_column)
    join pg_class c on c.oid = b.relation
    join pg_namespace n on n.oid = c.relnamespace
    order by n.nspname, c.relname
    """)

  private static func body(of function: String) -> String {
    let text = FunctionFile.all.first { $0.name == "applying_to_hosts" }?.text ?? ""
    guard let head = text.firstRange(of: "function tacet.\(function)("),
      let begin = text[head.upperBound...].firstRange(of: "as $$\n"),
      let end = text[begin.upperBound...].firstRange(of: "\n$$;")
    else {
      preconditionFailure("db/functions/applying_to_hosts.sql has no function \(function)")
    }
    return String(text[begin.upperBound..<end.lowerBound])
  }
}
