import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Operations
import Postgres
import PushRules
import PushStore
import Reactors
import Settings

struct InitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Looks at a database and writes the SQL that wires Tacet to its tables. Changes nothing.",
    discussion: """
      Needs DATABASE_URL. Guesses which tables hold messages, participants, users and devices, asks what is not clear where \
      there is a terminal, and writes one file to be reviewed and run with psql. Elsewhere the options answer. Then it prints \
      what to run.
      """)

  @Option(help: "The table of the messages.")
  var messages: String?

  @Option(
    help: "The table that says who takes part in a conversation, or everyone: then every user gets every message.")
  var participants: String?

  @Option(help: "The table of the users, or none.")
  var users: String?

  @Option(help: "The column with device tokens, as table.column, or own for a table that the wiring makes.")
  var devices: String?

  @Option(help: "Where a number says what kind a message is: the kinds that are pushed, separated by commas, or all.")
  var messageKinds: String?

  @Option(help: "The role of the service, where it is another than the tables' owner.")
  var role: String?

  @Option(help: "The file to write; - for standard output. An existing file is not overwritten.")
  var output = "tacet-wiring.sql"

  private static let isDefault = """
    The tables have the names and columns of the default contract. Nothing is to be written: run tacet migrate, then tacet doctor.
    """

  private static let columnsLeftOut =
    "tables were not looked at, because there are too many columns: name yours by options"

  func run() async throws {
    do {
      let schema = try await schema()
      if WiringPlan.isDefault(schema), !hasAnswers { return print(Self.isDefault) }
      let plan = try plan(for: schema)
      let text = WiringFile(plan).text
      guard output != "-" else { return print(text, terminator: "") }
      try write(text)
      print(report(of: plan))
    } catch {
      let failure = error as? PostgresError
      let isRefused = failure?.sqlState == Migrator.notWired
      Self.complain("\((isRefused ? failure?.message : failure?.debugDescription) ?? "\(error)")")
      throw ExitCode.failure
    }
  }

  private var hasAnswers: Bool {
    ![messages, participants, users, devices, messageKinds, role].allSatisfy { $0 == nil }
  }

  private static func complain(_ text: String) {
    StandardStream.error.say("tacet init: \(text)\n")
  }

  private func schema() async throws -> HostSchema {
    let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: false)
    let (conninfo, logger) = (
      settings.database.connectionString.exposed, settings.log.makeLogger(label: "tacet.init")
    )
    let found = try await ReactorGroup.perform { reactor in
      let database = try await DatabaseExamination.begin(conninfo, within: .seconds(10), logger: logger, on: reactor)
      defer { database.end(on: reactor) }
      return try await database.hostTables(on: reactor)
    }
    if found.leftOut > 0 { Self.complain("\(found.leftOut) \(Self.columnsLeftOut)") }
    return try HostSchema(tables: found.tables, hidden: found.hidden, blocks: found.blocks)
  }

  /// Guesses, and asks for what is missing.
  private func plan(for schema: HostSchema) throws -> WiringPlan {
    var answers = WiringAnswers()
    (answers[.messages], answers[.participants], answers[.users]) = (messages, participants, users)
    (answers[.devices], answers[.messageKinds], answers.role) = (devices, messageKinds, role)
    // Each turn answers a question that was not answered before.
    for _ in WiringQuestion.Subject.allCases {
      do {
        return try WiringPlan(schema, answers)
      } catch let question as WiringQuestion {
        answers[question.subject] = try TerminalQuestion(question).ask()
      }
    }
    return try WiringPlan(schema, answers)
  }

  private func write(_ text: String) throws {
    // Creates the file: one that exists may have been edited.
    guard let file = fopen(output, "wx") else {
      throw UnwritableFile(path: output, reason: String(cString: strerror(errno)))
    }
    defer { fclose(file) }
    guard fputs(text, file) >= 0, fflush(file) == 0 else {
      throw UnwritableFile(path: output, reason: String(cString: strerror(errno)))
    }
  }

  private func report(of plan: WiringPlan) -> String {
    let migrate = (["tacet", "migrate"] + plan.migrateOptions).joined(separator: " ")
    return """
      \(WiringSummary(plan).lines.joined(separator: "\n"))

      Read \(output), then run:
        \(migrate)
        psql -X -v ON_ERROR_STOP=1 -f \(output.shellQuoted) "$DATABASE_URL"
        tacet doctor
      """
  }
}

private struct UnwritableFile: Error, CustomStringConvertible {
  let path: String
  let reason: String

  var description: String { "\(path): \(reason); --output names another file" }
}

/// A question of `tacet init`, put to a person.
struct TerminalQuestion {
  /// Answers that cannot be used before it gives up.
  private static let attemptsMax = 3

  private let question: WiringQuestion
  private let isTerminal: Bool
  private let readLine: () -> String?
  private let tell: (String) -> Void

  /// Uses the process's terminal, if it has one and nothing else is said.
  /// - Parameters:
  ///   - readLine: the next answer without its line break; nil at the end of the input.
  ///   - tell: shows a text as it is.
  init(
    _ question: WiringQuestion, isTerminal: Bool = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
    readLine: @escaping () -> String? = { Swift.readLine() },
    tell: @escaping (String) -> Void = { StandardStream.error.say($0) }
  ) {
    self.question = question
    self.isTerminal = isTerminal
    self.readLine = readLine
    self.tell = tell
  }

  /// - Throws: ``UnansweredQuestion`` where there is no terminal, or after three answers that cannot be used.
  func ask() throws(UnansweredQuestion) -> String {
    guard isTerminal else { throw UnansweredQuestion(question: question) }
    tell(question.text + "\n")
    for (number, choice) in zip(1..., question.choices) where !question.isOpen { tell("  \(number)  \(choice)\n") }
    for _ in 0..<Self.attemptsMax {
      tell("> ")
      guard let line = readLine() else { break }
      if let answer = answer(String(line.trimmed)) { return answer }
      tell("Write a number of the list, or a name.\n")
    }
    throw UnansweredQuestion(question: question)
  }

  /// A number of the list, or what is written; nil for what is neither.
  private func answer(_ text: String) -> String? {
    if question.isOpen { return text.isEmpty ? question.choices.first : text }
    guard let number = Int(text) else { return text.isEmpty ? nil : text }
    return question.choices.indices.contains(number - 1) ? question.choices[number - 1] : nil
  }
}

struct UnansweredQuestion: Error, CustomStringConvertible {
  let question: WiringQuestion

  var description: String {
    "\(question.text) Answer with --\(question.subject.rawValue): \(question.choices.joined(separator: ", "))"
  }
}
