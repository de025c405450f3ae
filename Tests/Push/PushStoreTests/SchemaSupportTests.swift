import Testing

@testable import PushStore

@Suite("What a service supports of a schema")
struct SchemaSupportTests {
  private static let known = [Migration(name: "0035_first", text: ""), Migration(name: "0036_second", text: "")]

  @Test(
    "it refuses a schema that lacks a migration, and a later migration that needs a later service",
    arguments: [
      ([35, 36], nil, nil, .supported), ([36], nil, nil, .tooOld(missing: ["0035_first"])),
      ([], nil, nil, .tooOld(missing: ["0035_first", "0036_second"])), ([34, 35, 36], nil, nil, .supported),
      ([35, 36], 37, nil, .supported), ([35, 36], 37, 36, .supported),
      ([35, 36], 37, 37, .tooNew(version: 37, oldestService: 37)), ([35], 37, 36, .tooOld(missing: ["0036_second"])),
    ] as [([Int], Int?, Int?, SchemaSupport)])
  func supported(_ applied: [Int], _ later: Int?, _ oldest: Int?, _ support: SchemaSupport) {
    var all = applied.map { AppliedMigration(version: $0) }
    if let later { all.append(AppliedMigration(version: later, oldestService: oldest)) }
    #expect(SchemaSupport(applied: all, known: Self.known) == support)
  }

  @Test("a database says what was applied to it, also before it says which service may run beside it")
  func asked() async throws {
    let database = try await TestDatabase.empty()
    #expect(try await look(at: database) == .tooOld(missing: Migration.all.map(\.name)))
    try await database.migrate()
    #expect(try await look(at: database) == .supported)
    try await database.sql(
      "insert into tacet.migrations (version, name, oldest_service) values (9000, '9000_later', 9000)")
    #expect(try await look(at: database) == .tooNew(version: 9000, oldestService: 9000))
    try await database.sql(
      "delete from tacet.migrations where version > 32; alter table tacet.migrations drop oldest_service, drop checksum"
    )
    let missing = Migration.all.map(\.name).drop { $0 != "0033_versions" }
    #expect(try await look(at: database) == .tooOld(missing: Array(missing)))
    // As row-level security shows it to a role without a policy.
    try await database.sql("delete from tacet.migrations")
    #expect(try await look(at: database) == nil)
  }

  @Test("the migrator records the texts that it applies, and a changed one is told until it is one that was reworded")
  func checksums() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate()
    #expect(
      try await database.sql("select count(*) from tacet.migrations where checksum is null and version > 26") == "0")
    #expect(try await changed(in: database) == [])
    try await database.sql("update tacet.migrations set checksum = md5('') where version in (28, 29)")
    try await database.sql("update tacet.migrations set checksum = null where version = 30")
    #expect(try await changed(in: database) == ["0028_host_triggers", "0029_tacet_schema"])
    try await database.migrate()
    #expect(try await changed(in: database) == ["0028_host_triggers"])
  }

  private func look(at database: TestDatabase) async throws -> SchemaSupport? {
    try await onConnection(to: database) { try await SchemaSupport.look(over: $0, on: $1) }
  }

  private func changed(in database: TestDatabase) async throws -> [String] {
    try await onConnection(to: database) { try await DatabaseExamination(over: $0).changedMigrations(on: $1) }
  }
}
