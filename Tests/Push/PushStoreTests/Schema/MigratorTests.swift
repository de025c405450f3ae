import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestReactors
import TestRepository
import Testing

@testable import PushStore

@Suite("Migrator", .uuidsOnly)
struct MigratorTests {
  private static let steps = Migration.all.map(\.name) + [Migrator.functionsStep]

  @Test("an empty database gets every migration and every function, and a second run finds them applied")
  func twice() async throws {
    let database = try await TestDatabase.empty()
    #expect(try await migrate(database) == Self.steps.map { "\($0) applied" })
    #expect(try await migrate(database) == Self.steps.map { "\($0) alreadyApplied" })
  }

  @Test("the migrator and psql make the same schema")
  func sameAsByHand() async throws {
    let database = try await TestDatabase.empty()
    _ = try await migrate(database)
    let byHand = try await TestDatabase.withHostTables()
    try await byHand.apply(Repository.install)
    #expect(try await Catalog.dump(of: database) == Catalog.dump(of: byHand))
    #expect(try await database.dumpSchema() == byHand.dumpSchema())
  }

  @Test("what was applied by hand is not applied again")
  func afterHand() async throws {
    let database = try await TestDatabase.withHostTables()
    let files = Repository.files(in: "db/migrations", ending: "sql")
    for file in files {
      try await database.sql(IDTypes.tested.written(into: try String(contentsOf: file, encoding: .utf8)))
    }
    let expected = Migration.all.map { "\($0.name) alreadyApplied" } + ["\(Migrator.functionsStep) applied"]
    #expect(try await migrate(database) == expected)
  }

  @Test(
    "a schema from before the first release is refused with what to do, by the migrator and by psql, and stays",
    arguments: [true, false])
  func unreleased(_ isByHand: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(SchemaSupportTests.unreleased)
    let before = try await database.dumpSchema()
    let words = "not wired: the schema is from before the first release"
    if isByHand {
      let error = await #expect(throws: (any Error).self) { try await database.apply(Repository.install) }
      #expect(error.map { String(reflecting: $0) }?.contains(words) == true)
    } else {
      let error = await #expect(throws: PostgresError.self) {
        try await onReactor { _ = try await run(Migration.all, database, on: $0) }
      }
      #expect(error?.sqlState == Migrator.notWired)
      #expect(error?.message.contains(words) == true)
    }
    #expect(try await database.dumpSchema() == before)
    try await database.apply(Repository.file("db/uninstall.sql"))
    try await database.apply(Repository.install)
  }

  @Test("a second migrator waits for the first, and both end well")
  func concurrent() async throws {
    let database = try await TestDatabase.empty()
    try await withTwoSessions(database) { holder, watcher, reactor in
      _ = try await holder.value("pg_advisory_lock(1952539493, 2)", on: reactor)
      let runs = (0..<2).map { _ in Begun.begin(on: reactor) { try await run(Migration.all, database, on: reactor) } }
      let waiting = """
        select count(*) = 2 from pg_locks l join pg_stat_activity a using (pid)
        where a.datname = current_database() and a.application_name = 'tacet migrate' and not l.granted
        """
      try await watcher.awaitTrue(waiting, on: reactor)
      #expect(try await watcher.value("to_regclass('tacet.migrations')", on: reactor) == nil)
      _ = try await holder.value("pg_advisory_unlock(1952539493, 2)", on: reactor)
      var outcomes: [[String]] = []
      for run in runs { outcomes.append(try await run.value(on: reactor)) }
      let first = Self.steps[0]
      #expect(Set(outcomes.map { $0.first ?? "" }) == ["\(first) applied", "\(first) alreadyApplied"])
      #expect(outcomes.allSatisfy { $0.count == Self.steps.count })
    }
  }

  @Test("a lock that is not had within two seconds is let go of and tried for again", .timeLimit(.minutes(5)))
  func locked() async throws {
    let database = try await TestDatabase.withHostTables()
    try await withTwoSessions(database) { holder, writer, reactor in
      try await holder.run("begin; lock table public.push_tokens in row exclusive mode", on: reactor)
      var waits = 0
      var configuration = database.configuration
      configuration.connectLimit = patience
      let (released, start) = (Signal(), ContinuousClock.now)
      reactor.start {
        _ = await released.wait(on: reactor)
        try? await holder.run("rollback", on: reactor)
      }
      try await Migrator.run(
        in: configuration, createsHostTables: false, logger: quiet, on: reactor
      ) { _, outcome in
        guard case .waiting = outcome else { return }
        waits += 1
        // The host's inserts wait as long; ten times of it is for a busy machine. The holder lets go of nothing by itself.
        #expect(ContinuousClock.now - start < .seconds(20))
        released.signal(on: reactor)
      }
      #expect(waits == 1)
    }
    #expect(try await database.sql("select max(version) from tacet.migrations") == "\(Migration.all.count)")
  }

  @Test("a file that fails changes nothing, and those after it are not tried")
  func failing() async throws {
    let database = try await TestDatabase.empty()
    let broken = Migration(
      name: "9998_broken", text: "create table public.half (a int); select 1/0; create table public.other (a int);")
    let last = Migration(name: "9999_last", text: "create table public.last (a int);")
    let state = try await failure(of: Migration.all + [broken, last], in: database)
    #expect(state == "22012")
    #expect(try await database.sql("select to_regclass('public.half'), to_regclass('public.last')") == "|")
    #expect(try await database.sql("select max(version) from tacet.migrations") == "\(Migration.all.count)")
    #expect(try await migrate(database).last == "\(Migrator.functionsStep) applied")
  }

  private func failure(of migrations: [Migration], in database: TestDatabase) async throws -> String? {
    do {
      try await onReactor { _ = try await run(migrations, database, on: $0) }
      return nil
    } catch let error as PostgresError {
      return error.sqlState?.description
    }
  }

  private func migrate(_ database: TestDatabase) async throws -> [String] {
    let group = try ReactorGroup(count: 1)
    let reports = try await group.reactors[0].perform { try await run(Migration.all, database, on: $0) }
    await group.stop()
    return reports
  }
}

/// Runs migrations; what was reported of each.
private func run(
  _ migrations: [Migration], _ database: TestDatabase, on reactor: isolated Reactor
) async throws -> [String] {
  var reports: [String] = []
  var configuration = database.configuration
  configuration.connectLimit = patience
  try await Migrator.run(
    migrations, in: configuration, createsHostTables: true, logger: quiet, on: reactor
  ) { step, outcome in
    reports.append("\(step) \(outcome)")
  }
  return reports
}

@Suite("Migrations", .uuidsOnly)
struct MigrationTests {
  @Test(
    "the program has every file of db/migrations, db/functions and db/campaigns, with the file's own bytes, in order")
  func complete() throws {
    func files(_ folder: String, prefix: String = "") throws -> [String] {
      let files = Repository.files(in: folder, ending: "sql")
      #expect(!files.isEmpty)
      return try files.map {
        "\(prefix)\($0.deletingPathExtension().lastPathComponent) \(try String(contentsOf: $0, encoding: .utf8))"
      }
    }
    #expect(try files("db/migrations") == Migration.all.map { "\($0.name) \($0.sql)" })
    #expect(
      try files("db/functions") + files("db/campaigns", prefix: "campaigns/")
        == FunctionFile.all.map { "\($0.name) \($0.text)" })
    #expect(Migration.hostTables == (try Repository.text("db/host/host_tables.sql")))
  }

  @Test(
    "the script for psql has the same files in the same order, with the types of the ids", arguments: [false, true])
  func script(hasHostTables: Bool) {
    let ids = IDTypeWishes(messages: .bigint, users: .text)
    var rest = Substring(Migrator.script(createsHostTables: hasHostTables, ids: ids))
    let files = (hasHostTables ? [Migration.hostTables] : []) + Migration.all.map(\.sql) + FunctionFile.all.map(\.text)
    for file in files.map({ IDTypes(messages: .bigint, users: .text).written(into: $0) }) {
      let place = rest.firstRange(of: file)
      #expect(place != nil, "\(file.prefix(80))")
      rest = rest[(place?.upperBound ?? rest.startIndex)...]
    }
    #expect(!rest.contains(/tacet\.(message|conversation|user|subject)_id\b/))
  }

  @Test("versions count up from one without a gap")
  func versions() {
    #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
  }

  @Test("every file notes itself as applied")
  func noted() async throws {
    let database = try await TestDatabase.migrated()
    let applied = try await database.sql("select version, name from tacet.migrations order by version")
    #expect(applied == Migration.all.map { "\($0.version)|\($0.name)" }.joined(separator: "\n"))
  }

  @Test("every file can be applied again and changes nothing")
  func repeatable() async throws {
    let database = try await TestDatabase.migrated()
    let before = try await Catalog.dump(of: database)
    try await database.apply(Repository.hostTables)
    try await database.apply(Repository.install)
    #expect(try await Catalog.dump(of: database) == before)
    for folder in ["db/migrations", "db/functions", "db/campaigns"] {
      for file in Repository.files(in: folder, ending: "sql") {
        try await database.sql(IDTypes.tested.written(into: try String(contentsOf: file, encoding: .utf8)))
      }
    }
    #expect(try await database.sql("begin; call tacet.finish_applying(); commit") == "")
    #expect(try await Catalog.dump(of: database) == before)
  }

  @Test("psql -f warns of nothing")
  func quietByHand() async throws {
    let database = try await TestDatabase.empty()
    for file in [Repository.hostTables, Repository.install] {
      let output = try await database.apply(file)
      #expect(!output.contains("WARNING"), "\(file.lastPathComponent)")
      #expect(!output.contains("NOTICE"), "\(file.lastPathComponent)")
    }
  }
}

@Suite("What a service supports of a schema")
struct SchemaSupportTests {
  /// Makes a database one of a time before the baseline: its migrations had other names, and no `oldest_service`.
  static let unreleased = """
    insert into tacet.migrations (version, name) values (19, '0030_tacet_features'), (33, '0033_versions');
    update tacet.migrations set name = '0030_tacet_features' where version = 1;
    alter table tacet.migrations drop oldest_service, drop checksum
    """

  private static let known = [Migration(name: "0001_first", text: ""), Migration(name: "0002_second", text: "")]

  @Test(
    "it refuses a schema that lacks a migration, and a later migration that needs a later service",
    arguments: [
      ([1, 2], nil, nil, .supported), ([1], nil, nil, .tooOld(missing: ["0002_second"])),
      ([], nil, nil, .tooOld(missing: ["0001_first", "0002_second"])), ([2], nil, nil, .unreleased),
      ([1, 2], 3, nil, .supported), ([1, 2], 3, 2, .supported), ([], 3, 3, .unreleased),
      ([1, 2], 3, 3, .tooNew(version: 3, oldestService: 3)), ([1], 3, 2, .tooOld(missing: ["0002_second"])),
    ] as [([Int], Int?, Int?, SchemaSupport)])
  func supported(_ applied: [Int], _ later: Int?, _ oldest: Int?, _ support: SchemaSupport) {
    var all = applied.map { AppliedMigration(version: $0, name: Self.known[$0 - 1].name) }
    if let later { all.append(AppliedMigration(version: later, name: "later", oldestService: oldest)) }
    #expect(SchemaSupport(applied: all, known: Self.known) == support)
  }

  @Test("a database says what was applied to it, also one from before the first release")
  func asked() async throws {
    let database = try await TestDatabase.empty()
    #expect(try await look(at: database) == .tooOld(missing: Migration.all.map(\.name)))
    try await database.migrate()
    #expect(try await look(at: database) == .supported)
    try await database.sql(
      "insert into tacet.migrations (version, name, oldest_service) values (9000, '9000_later', 9000)")
    #expect(try await look(at: database) == .tooNew(version: 9000, oldestService: 9000))
    try await database.sql(Self.unreleased)
    #expect(try await look(at: database) == .unreleased)
    // As row-level security shows it to a role without a policy.
    try await database.sql("delete from tacet.migrations")
    #expect(try await look(at: database) == nil)
  }

  @Test("the migrator records the texts that it applies, and a changed one is told")
  func checksums() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate()
    #expect(try await database.sql("select count(*) from tacet.migrations where checksum is null") == "0")
    #expect(try await changed(in: database) == [])
    try await database.sql("update tacet.migrations set checksum = md5('')")
    try await database.migrate()
    #expect(try await changed(in: database) == Migration.all.map(\.name))
    try await database.sql("update tacet.migrations set checksum = null")
    #expect(try await changed(in: database) == [])
  }

  private func look(at database: TestDatabase) async throws -> SchemaSupport? {
    try await onConnection(to: database) { try await SchemaSupport.look(over: $0, on: $1) }
  }

  private func changed(in database: TestDatabase) async throws -> [String] {
    try await onConnection(to: database) { try await DatabaseExamination(over: $0).changedMigrations(on: $1) }
  }
}
