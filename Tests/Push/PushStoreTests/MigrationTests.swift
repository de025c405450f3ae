import Foundation
import TestRepository
import Testing

@testable import PushStore

@Suite("Migrations")
struct MigrationTests {
  @Test("the program has every file of db/migrations, with the file's own bytes, in order")
  func complete() async throws {
    let files = Repository.migrations
    #expect(!files.isEmpty)
    #expect(Migration.all.map(\.name) == files.map { $0.deletingPathExtension().lastPathComponent })
    #expect(Migration.all.map(\.sql) == (try files.map { try String(contentsOf: $0, encoding: .utf8) }))
    #expect(Migration.hostTables == (try String(contentsOf: Repository.hostTables, encoding: .utf8)))
  }

  @Test("versions count up from 1 without a gap")
  func versions() {
    #expect(Migration.all.map(\.version) == Array(1...Migration.all.count))
  }

  @Test("every file notes itself as applied")
  func noted() async throws {
    let applied = try await TestDatabase.migrated().sql("select version, name from tacet.migrations order by version")
    #expect(applied == Migration.all.map { "\($0.version)|\($0.name)" }.joined(separator: "\n"))
  }

  @Test("every file can be applied again and changes nothing")
  func repeatable() async throws {
    let database = try await TestDatabase.migrated()
    let before = try await Catalog.dump(of: database)
    for file in [Repository.hostTables] + Repository.migrations { try await database.apply(file) }
    #expect(try await Catalog.dump(of: database) == before)
  }

  @Test("psql -f warns of nothing")
  func quietByHand() async throws {
    let database = try await TestDatabase.empty()
    for file in [Repository.hostTables] + Repository.migrations {
      let output = try await database.apply(file)
      #expect(!output.contains("WARNING"), "\(file.lastPathComponent)")
      #expect(!output.contains("NOTICE"), "\(file.lastPathComponent)")
    }
  }
}
