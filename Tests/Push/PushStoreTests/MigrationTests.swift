import Foundation
import PushRules
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("Migrations", .uuidsOnly)
struct MigrationTests {
  @Test("the program has every file of db/migrations and db/functions, with the file's own bytes, in order")
  func complete() throws {
    func files(_ folder: String) throws -> [String] {
      let files = Repository.files(in: folder, ending: "sql")
      #expect(!files.isEmpty)
      return try files.map {
        "\($0.deletingPathExtension().lastPathComponent) \(try String(contentsOf: $0, encoding: .utf8))"
      }
    }
    #expect(try files("db/migrations") == Migration.all.map { "\($0.name) \($0.sql)" })
    #expect(try files("db/functions") == FunctionFile.all.map { "\($0.name) \($0.text)" })
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
    for folder in ["db/migrations", "db/functions"] {
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
