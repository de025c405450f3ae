import ArgumentParser
import Foundation
import Logging
import Postgres
import PushStore
import Reactors
import Settings

/// `tacet migrate`
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Brings the database's schema up to date.",
    discussion: """
      Needs DATABASE_URL. Applies what has not been applied, each file in a transaction of its own, while no other \
      migrator can. Running it again is harmless. A host that cannot be served is refused with the reason, and \
      nothing is created.
      """)

  @Flag(help: "Create the host's tables that are missing, closed to every role but their owner.")
  var createHostTables = false

  func run() async throws {
    let settings = try MigrateSettings(environment: ProcessInfo.processInfo.environment)
    let logger = settings.log.makeLogger(label: "tacet.migrate")
    let group = try ReactorGroup(count: 1)
    let configuration = PostgresConfiguration(conninfo: settings.database.connectionString.exposed)
    do {
      try await group.reactors[0].perform { [createHostTables] reactor in
        try await Migrator.run(
          in: configuration, createsHostTables: createHostTables, logger: logger, on: reactor,
          notice: { FileHandle.standardError.write(Data("tacet migrate: notice: \($0)\n".utf8)) },
          report: { print("\($0.name): \($1.text)") })
      }
    } catch {
      await group.stop()
      FileHandle.standardError.write(Data("tacet migrate: \(Self.text(of: error))\n".utf8))
      throw ExitCode.failure
    }
    await group.stop()
  }

  /// All of it: the server's text says which statement of which file failed, and no secret is part of it. What a function
  /// raises is left out of an error's description, unless a migration raised it for the operator.
  private static func text(of error: any Error) -> String {
    guard let error = error as? PostgresError else { return String(reflecting: error) }
    switch error.sqlState {
    case Migrator.notWired?: return error.message
    case .lockNotAvailable?:
      return """
        another transaction keeps a lock on a table that the next migration changes, and no insert shall wait behind it. \
        See pg_stat_activity for old transactions, and migrate again. \(error.debugDescription)
        """
    default: return error.debugDescription
    }
  }
}

extension Migrator.Outcome {
  fileprivate var text: String {
    switch self {
    case .applied: "applied"
    case .alreadyApplied: "already applied"
    case .waiting: "a table is locked; trying again"
    }
  }
}
