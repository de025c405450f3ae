import ArgumentParser
import Foundation
import Logging
import Postgres
import PushStore
import Reactors
import ServiceSettings

/// `tacet migrate`
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Brings the database's schema up to date.",
    discussion: """
      Needs DATABASE_URL. Applies what has not been applied, each file in a transaction of its own, while no other \
      migrator can. Running it again is harmless.
      """)

  func run() async throws {
    let settings = try MigrateSettings(environment: ProcessInfo.processInfo.environment)
    let logger = settings.log.makeLogger(label: "tacet.migrate")
    let group = try ReactorGroup(count: 1)
    let configuration = PostgresConfiguration(conninfo: settings.database.connectionString.exposed)
    do {
      try await group.reactors[0].perform { reactor in
        try await Migrator.run(in: configuration, logger: logger, on: reactor) { migration, outcome in
          print("\(migration.name): \(outcome.text)")
        }
      }
    } catch {
      await group.stop()
      // All of it: the server's text says which statement of which file failed, and no secret is part of it.
      FileHandle.standardError.write(Data("tacet migrate: \(String(reflecting: error))\n".utf8))
      throw ExitCode.failure
    }
    await group.stop()
  }
}

extension Migrator.Outcome {
  fileprivate var text: String {
    switch self {
    case .applied: "applied"
    case .alreadyApplied: "already applied"
    }
  }
}
