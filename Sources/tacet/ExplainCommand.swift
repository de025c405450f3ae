import ArgumentParser
import Foundation
import Postgres
import PushAPI
import PushExplanations
import PushStore
import Reactors
import ServiceSettings

/// `tacet explain`
struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Says why somebody was pushed or was not, step by step.",
    discussion: """
      Needs DATABASE_URL and nothing else: it asks the database, changes nothing there, and works as long as the ledger \
      has the rows. Exits 0 when something is known, 1 when nothing is, 2 when it could not ask.
      """)

  @Option(help: "The id of the message; or, of another kind of event, of its subject.")
  var message: String

  @Option(help: "The one user to tell about. Without it all recipients, at most 1000.")
  var user: String?

  @Option(help: "The one kind of event to tell about. Without it, all that the id is the subject of.")
  var kind: String?

  @Flag(help: "JSON, as GET /v1/explain answers it.")
  var json = false

  private static let unknown = ExitCode(1)
  private static let cannotAsk = ExitCode(2)

  func run() async throws {
    let explanations: [EventExplanation]
    do {
      explanations = try await ask()
    } catch {
      FileHandle.standardError.write(Data("tacet explain: \(String(reflecting: error))\n".utf8))
      throw Self.cannotAsk
    }
    if json {
      FileHandle.standardOutput.write(Data(EventExplanation.json(explanations) + [UInt8(ascii: "\n")]))
    } else {
      FileHandle.standardOutput.write(Data(explanations.map(\.text).joined(separator: "\n").utf8))
    }
    guard explanations.contains(where: \.isKnown) else { throw Self.unknown }
  }

  private func ask() async throws -> [EventExplanation] {
    let (message, user, kind) = (try uuid(message, of: "message"), try user.map { try uuid($0, of: "user") }, kind)
    guard kind.map(PushSubject.canBeKind) != false else { throw UnusableOption(name: "kind", form: "kind") }
    let settings = try ExplainSettings(environment: ProcessInfo.processInfo.environment)
    let group = try ReactorGroup(count: 1)
    do {
      let records = try await group.reactors[0].perform { reactor in
        try await Self.records(of: message, kind, user, by: settings, on: reactor)
      }
      await group.stop()
      return records.map(EventExplanation.init)
    } catch {
      await group.stop()
      throw error
    }
  }

  private static func records(
    of message: UUID, _ kind: String?, _ user: UUID?, by settings: ExplainSettings, on reactor: isolated Reactor
  ) async throws -> [EventRecords] {
    var configuration = PostgresConfiguration(conninfo: settings.database.connectionString.exposed)
    configuration.applicationName = "tacet explain"
    configuration.poolMode = settings.database.poolMode == .transaction ? .transaction : .session
    configuration.settings = PushDatabase.sessionSettings
    configuration.settings["default_transaction_read_only"] = "on"
    let pool = PostgresPool(
      configuration, size: 1, acquireLimit: .seconds(5), logger: settings.log.makeLogger(label: "tacet.explain"))
    pool.start(on: reactor)
    let records: Result<[EventRecords], any Error>
    do {
      records = .success(
        try await PushDatabase(pool: pool, lookLimit: .seconds(30)).records(
          ofSubject: message, kind: kind, userID: user, on: reactor))
    } catch {
      records = .failure(error)
    }
    await pool.close(on: reactor)
    return try records.get()
  }

  private func uuid(_ text: String, of option: String) throws -> UUID {
    guard let id = UUID(hyphenated: text) else { throw UnusableOption(name: option, form: "UUID") }
    return id
  }
}

/// An option's value that cannot be used.
private struct UnusableOption: Error, CustomDebugStringConvertible {
  let name: String
  let form: String

  var debugDescription: String { "--\(name) must be a \(form)" }
}
