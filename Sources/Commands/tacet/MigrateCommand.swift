internal import ArgumentParser
import FoundationEssentials
import Logging
import Postgres
package import PushRules
import PushStore
import Reactors
import Settings

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Brings the database's schema up to date.",
    discussion: """
      Needs DATABASE_URL. Applies what has not been applied, each file in a transaction of its own, while no other \
      migrator can. Functions whose text changed are applied again in one. Running it again is harmless. A host that \
      cannot be served is refused with the reason, and nothing is created.
      """)

  @Flag(help: "Create the host's tables that are missing, closed to every role but their owner.")
  var createHostTables = false

  @Option(help: "What messages are called by: uuid, bigint or text. As the host's table has it, otherwise uuid.")
  var messageIds: IDTypes.IDType?

  @Option(help: "The same for conversations and other surfaces.")
  var conversationIds: IDTypes.IDType?

  @Option(help: "The same for users.")
  var userIds: IDTypes.IDType?

  @Flag(help: "Change nothing, and print what would be applied to a new database, as a script for psql.")
  var print = false

  private var ids: IDTypeWishes {
    IDTypeWishes(messages: messageIds, conversations: conversationIds, users: userIds)
  }

  func run() async throws {
    if print {
      return Swift.print(Migrator.script(createsHostTables: createHostTables, ids: ids), terminator: "")
    }
    let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: true)
    let logger = settings.log.makeLogger(label: "tacet.migrate")
    let configuration = PostgresConfiguration(settings.database)
    do {
      try await ReactorGroup.perform { [createHostTables, ids] reactor in
        try await Migrator.run(
          in: configuration, createsHostTables: createHostTables, ids: ids, logger: logger, on: reactor,
          notice: { StandardStream.error.say("tacet migrate: notice: \($0)\n") },
          report: { Swift.print("\($0): \($1.text)") })
      }
    } catch {
      StandardStream.error.say("tacet migrate: \(Self.text(of: error))\n")
      throw ExitCode.failure
    }
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

extension IDTypes.IDType: ExpressibleByArgument {}

extension Migrator.Outcome {
  fileprivate var text: String {
    switch self {
    case .applied: "applied"
    case .alreadyApplied: "already applied"
    case .waiting: "a table is locked; trying again"
    }
  }
}

struct AdoptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Makes a copied database its own, and drops the pushes that wait in it.",
    discussion: """
      Needs DATABASE_URL. A dump or a clone carries everything that waits to be pushed to real people, so `tacet serve` \
      does not start in a copy. This command drops what waits, forgets the address and the secret of webhooks, and notes \
      which database this is. Says how much it has dropped. Messages, devices and the ledger stay.
      """)

  @Flag(help: "Drop nothing: the database has only moved or was upgraded, and no other copy is in use.")
  var keepWaiting = false

  func run() async throws {
    let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: true)
    let logger = settings.log.makeLogger(label: "tacet.adopt")
    let configuration = PostgresConfiguration(settings.database)
    do {
      let counts = try await ReactorGroup.perform { [keepWaiting] reactor in
        try await DatabaseIdentity.adopt(keepingWaiting: keepWaiting, in: configuration, logger: logger, on: reactor)
      }
      for count in counts { print("\(count.table): \(count.dropped) dropped") }
      print("adopted")
    } catch {
      StandardStream.error.say("tacet adopt: \(String(reflecting: error))\n")
      throw ExitCode.failure
    }
  }
}
