import Testing

@testable import PushStore

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
