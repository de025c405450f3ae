import Foundation
import Postgres
import PushStore
import TestPostgres

/// A database for one test alone, on the cluster that the tests of this process share.
struct TestDatabase: Sendable {
  /// The files of `db/migrations`, in order.
  static let migrationFiles: [URL] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "db/migrations")
    let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.pathExtension == "sql" }.sorted { $0.path < $1.path }
  }()

  /// Creates the tables of the default host contract; to be applied before the first migration.
  static let hostTablesFile = migrationFiles[0].deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "host/host_tables.sql")

  private static let template = Task {
    let database = try await TestDatabase.withHostTables()
    for file in migrationFiles { try await database.apply(file) }
    return database.name
  }

  let server: TestPostgres
  let name: String
  /// Whom the store works as; its owner when nil.
  var role: String?

  /// A database with nothing in it.
  static func empty() async throws -> TestDatabase { try await TestDatabase(from: "template0") }

  /// A database with the tables of the default host contract, and no migration.
  static func withHostTables() async throws -> TestDatabase {
    let database = try await empty()
    try await database.apply(hostTablesFile)
    return database
  }

  /// A database to which every migration was applied.
  static func migrated() async throws -> TestDatabase { try await TestDatabase(from: try await template.value) }

  private init(from template: String) async throws {
    server = try await TestPostgres.shared
    name = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await server.psql("create database \(name) template \(template)")
  }

  var configuration: PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: server.conninfo(database: name))
    configuration.settings = PushDatabase.serviceSettings
    if let role { configuration.settings["role"] = role }
    return configuration
  }

  /// Runs statements in one transaction, through a session of their own.
  /// - Returns: the rows, their columns separated by `|`; notices stand before them.
  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// What `psql -f` does with a file.
  @discardableResult
  func apply(_ file: URL) async throws -> String {
    try await server.psql("\\i '\(file.path)'", database: name)
  }
}
