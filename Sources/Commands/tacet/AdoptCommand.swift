import ArgumentParser
import Foundation
import Postgres
import PushStore
import Reactors
import Settings

/// `tacet adopt`
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
    let settings = try MigrateSettings(environment: ProcessInfo.processInfo.environment)
    let logger = settings.log.makeLogger(label: "tacet.adopt")
    let configuration = PostgresConfiguration(conninfo: settings.database.connectionString.exposed)
    let group = try ReactorGroup(count: 1)
    do {
      let counts = try await group.reactors[0].perform { [keepWaiting] reactor in
        try await DatabaseIdentity.adopt(keepingWaiting: keepWaiting, in: configuration, logger: logger, on: reactor)
      }
      for count in counts { print("\(count.table): \(count.dropped) dropped") }
      print("adopted")
    } catch {
      await group.stop()
      FileHandle.standardError.write(Data("tacet adopt: \(String(reflecting: error))\n".utf8))
      throw ExitCode.failure
    }
    await group.stop()
  }
}
