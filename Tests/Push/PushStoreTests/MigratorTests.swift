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

  @Test("a lock that is not had within two seconds is let go of and tried for again", .timeLimit(.minutes(1)))
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
        // The host's inserts wait as long; twice and more of it is for a busy machine.
        #expect(ContinuousClock.now - start < .seconds(5))
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
