import API
import ArgumentParser
import FoundationEssentials
import Operations
import Postgres
internal import PushRules
import PushStore
import Reactors
import Settings

struct ExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Says why somebody was pushed or was not, step by step.",
    discussion: """
      Needs DATABASE_URL and nothing else: it asks the database, changes nothing there, and works as long as the ledger \
      has the rows. Exits 0 when something is known, 1 when nothing is, 2 when it could not ask.
      """)

  @Option(help: "The id of the message; or, of another kind of event, of its subject.")
  var message: String?

  @Option(help: "The one user to tell about. Without it all recipients, at most 1000. Alone: the user's newest pushes.")
  var user: String?

  @Option(help: "With a user alone: how far back, such as 30m, 24h or 7d.")
  var since: TimeSpan?

  @Flag(help: "Instead of anybody's push: every reason, with what it means.")
  var reasons = false

  @Option(help: "The one kind of event to tell about. Without it, all that the id is the subject of.")
  var kind: String?

  @Option(help: "Instead of a message: the campaign, such as coach, that looked at the user.")
  var campaign: String?

  @Option(help: "With a campaign: the one day to tell about, such as 2026-11-22. Without it, the newest ones.")
  var day: String?

  @Option(help: "Instead of a message: the id of a Live Activity; with --user also of one that an app has started.")
  var activity: String?

  @Flag(help: "JSON, as GET /v1/explain answers it.")
  var json = false

  /// Of a user, in one answer.
  private static let eventsMax = 50
  private static let unknown = ExitCode(1)
  private static let cannotAsk = ExitCode(2)

  /// What was asked, answered: for people, for programs, and whether anything is known.
  private struct Answer: Sendable {
    let text: String
    let json: [UInt8]
    let isKnown: Bool
  }

  func run() async throws {
    let answer: Answer
    do {
      answer = reasons ? try everyReason() : try await ask()
    } catch {
      StandardStream.error.say("tacet explain: \(String(reflecting: error))\n")
      throw Self.cannotAsk
    }
    StandardStream.output.say(json ? answer.json + [UInt8(ascii: "\n")] : Array(answer.text.utf8))
    guard answer.isKnown else { throw Self.unknown }
  }

  private func ask() async throws -> Answer {
    let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: false)
    if let activity { return try await ask(aboutActivity: activity, settings) }
    if let campaign { return try await ask(about: campaign, settings) }
    if message == nil, let user { return try await ask(aboutUser: user, settings) }
    guard let message else {
      throw UnusableOption(name: "message", form: "an id, or else --user or --campaign be there")
    }
    guard since == nil else { throw UnusableOption(name: "since", form: "with a --user alone") }
    guard day == nil else { throw UnusableOption(name: "day", form: "of a --campaign") }
    guard kind.map(PushSubject.canBeKind) != false else { throw UnusableOption(name: "kind", form: "a kind") }
    let (user, kind) = (user, kind)
    return try await OperatorSession.perform(settings) { database, reactor in
      let id = try database.idTypes.subjects.id(message, of: "message")
      let user = try user.map { try database.idTypes.users.id($0, of: "user") }
      let records = try await database.records(ofSubject: id, kind: kind, userID: user, on: reactor)
      let explanations = records.map(EventExplanation.init)
      return Answer(
        text: explanations.map(\.text).joined(separator: "\n"), json: EventExplanation.json(explanations),
        isKnown: explanations.contains(where: \.isKnown))
    }
  }

  private func ask(aboutUser user: String, _ settings: CommandSettings) async throws -> Answer {
    guard kind == nil, day == nil else { throw UnusableOption(name: "user", form: "alone, or with --since") }
    let since = since ?? TimeSpan(argument: "24h")!
    return try await OperatorSession.perform(settings) { database, reactor in
      let id = try database.idTypes.users.id(user, of: "user")
      let records = try await database.records(
        ofUser: id, since: since.duration, eventsMax: Self.eventsMax, on: reactor)
      let explanations = records.map(EventExplanation.init)
      return Answer(
        text: EventExplanation.text(explanations, ofUser: id.text, since: since.text),
        json: EventExplanation.json(explanations), isKnown: !explanations.isEmpty)
    }
  }

  private func everyReason() throws -> Answer {
    guard message == nil, user == nil, campaign == nil, activity == nil else {
      throw UnusableOption(name: "reasons", form: "alone")
    }
    return Answer(text: ReasonMeaning.text, json: ReasonMeaning.json, isKnown: true)
  }

  private func ask(aboutActivity id: String, _ settings: CommandSettings) async throws -> Answer {
    guard message == nil, kind == nil, campaign == nil, day == nil else {
      throw UnusableOption(name: "activity", form: "alone, or with --user")
    }
    let user = user
    return try await OperatorSession.perform(settings) { database, reactor in
      let user = try user.map { try database.idTypes.users.id($0, of: "user") }
      let record = try await database.liveActivity(id, of: user, updatesMax: 1000, on: reactor)
      let explanation = record.map(LiveActivityExplanation.init)
      return Answer(
        text: explanation?.text ?? "There is no such Live Activity.\n", json: explanation?.json ?? Array("{}".utf8),
        isKnown: explanation != nil)
    }
  }

  private func ask(about campaign: String, _ settings: CommandSettings) async throws -> Answer {
    guard message == nil, kind == nil else { throw UnusableOption(name: "campaign", form: "alone, with --user") }
    guard PushSubject.canBeKind(campaign) else { throw UnusableOption(name: "campaign", form: "a name") }
    guard let user else { throw UnusableOption(name: "user", form: "an id") }
    guard day.map(InstantText.isDate) != false else {
      throw UnusableOption(name: "day", form: "a date like 2026-11-22")
    }
    let day = day
    return try await OperatorSession.perform(settings) { database, reactor in
      let user = try database.idTypes.users.id(user, of: "user")
      let story = try await database.campaignStory(of: user, campaign: campaign, day: day, on: reactor)
      let explanation = CampaignExplanation(story, campaign: campaign, userID: user.text)
      return Answer(text: explanation.text, json: explanation.json, isKnown: explanation.isKnown)
    }
  }
}

extension IDTypes.IDType {
  /// The id that an option names.
  func id(_ text: String, of option: String) throws -> HostID {
    guard let id = id(text) else { throw UnusableOption(name: option, form: noun) }
    return id
  }
}

/// A span of time as people write it: a whole number and a unit.
struct TimeSpan: ExpressibleByArgument {
  private static let units: [Character: Int] = ["m": 60, "h": 3600, "d": 86_400]

  let text: String
  let duration: Duration

  init?(argument: String) {
    guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int32(argument.dropLast()), count > 0 else {
      return nil
    }
    text = argument
    duration = .seconds(Int(count) * unit)
  }
}

struct UnusableOption: Error, CustomDebugStringConvertible {
  let name: String
  let form: String

  var debugDescription: String { "--\(name) must be \(form)" }
}

/// One session with the database, for a command that asks it.
enum OperatorSession {
  /// Opens a session that only reads, runs the body on a separate reactor, and closes both.
  static func perform<Result: Sendable>(
    _ settings: CommandSettings,
    _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Result
  ) async throws -> Result {
    try await ReactorGroup.perform { try await run(settings, body, on: $0) }
  }

  private static func run<Result: Sendable>(
    _ settings: CommandSettings, _ body: (PushDatabase, isolated Reactor) async throws -> Result,
    on reactor: isolated Reactor
  ) async throws -> Result {
    let logger = settings.log.makeLogger(label: "tacet.explain")
    var configuration = PostgresConfiguration(settings.database)
    configuration.applicationName = "tacet explain"
    configuration.settings = PushDatabase.sessionSettings
    configuration.forbidWrites()
    try await IDTypes.look(in: configuration, logger: logger, on: reactor)
    let pool = PostgresPool(configuration, size: 1, acquireLimit: .seconds(5), logger: logger)
    pool.start(on: reactor)
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(PushDatabase(pool: pool, lookLimit: .seconds(30)), reactor))
    } catch {
      result = .failure(error)
    }
    await pool.close(on: reactor)
    return try result.get()
  }
}
