import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import TestReactors
import TestRepository

@testable import PushStore

/// A database for one test alone, on the cluster that the tests of this process share.
struct TestDatabase: Sendable {
  private static let template = Task {
    let database = try await TestDatabase.withHostTables()
    try await database.apply(Repository.install)
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
    try await database.apply(Repository.hostTables)
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
