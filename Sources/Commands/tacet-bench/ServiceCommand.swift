import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Postgres
import Reactors

/// `tacet-bench service`: the whole service under load, from the host's insert to the accepted push.
struct ServiceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service",
    abstract: "Puts load on the whole service, from the host's insert to the accepted push.",
    discussion: """
      Starts the service of each subject on its database, inserts messages as a
      host would, takes the pushes in place of APNs, and prints one line of
      JSON for each run. Messages come when they are due, whatever became of
      those before them. The databases have been migrated by the subject's own
      program and filled by deploy/lib/bench/measure.sql.

      Fails when a run failed, such as one that lost a push.
      """)

  @Option(name: .customLong("subject"), help: "A build and its database, NAME=PROGRAM,CONNINFO; may be repeated.")
  var subjects: [Subject]

  @Option(
    name: .customLong("host-database"),
    help: "What the load of a subject connects with, NAME=CONNINFO; the subject's CONNINFO when left out.")
  var hostDatabases: [NamedValue] = []

  @Option(
    name: .customLong("scenario"),
    help: """
      messages-RATE, sustained, fanout-RECIPIENTS, burst-MESSAGES or start; may be repeated.
      """)
  var scenarios: [ServiceScenario]

  @Option(help: "Rounds of each scenario.")
  var rounds = 1

  @Option(help: "The number of the first round, where others were measured before; each begins with another subject.")
  var firstRound = 1

  @Option(help: "Seconds that count, of a run at a steady rate.")
  var seconds = 10.0

  @Option(help: "Seconds before, which do not count.")
  var warmUp = 2.0

  @Option(help: "Connections of the load, each with one insert in flight.")
  var connections = 64

  @Option(help: "How the messages of a burst are inserted: a statement for each (row), for a hundred, or for all.")
  var burstInsert = BurstInsert.hundred

  @Option(name: .customLong("from"), help: "The first rate of the search for the highest one, per second.")
  var sustainedFrom = 2000.0

  @Option(name: .customLong("setting"), help: "A setting of the service, KEY=VALUE; may be repeated.")
  var settings: [NamedValue] = []

  @Option(
    help: "Where the services' logs are written, NAME.log; a folder in /tmp when left out, which stays if a run failed."
  )
  var folder: String?

  func validate() throws {
    guard rounds > 0, firstRound > 0, seconds > 0, warmUp >= 0, sustainedFrom >= 1, (1...1000).contains(connections)
    else {
      throw ValidationError("--rounds, --seconds, --from and --connections are above 0, --warm-up is not below")
    }
    let names = Set(subjects.map(\.name))
    guard names.count == subjects.count else { throw ValidationError("two subjects have the same name") }
    if let stranger = hostDatabases.first(where: { !names.contains($0.name) }) {
      throw ValidationError("--host-database names no subject: \(stranger.name)")
    }
  }

  func run() async throws {
    let made = try folder == nil ? Self.makeFolder() : nil
    guard let folder = folder ?? made else { return }
    Progress.say("logs of the services: \(folder)")
    guard try await measure(in: folder) else { throw ExitCode.failure }
    if let made { try FileManager.default.removeItem(atPath: made) }
  }

  /// - Returns: whether all runs succeeded.
  private func measure(in folder: String) async throws -> Bool {
    let sinks = try ReactorGroup(count: 1, name: "sink")
    let loads = try ReactorGroup(count: 1, name: "load")
    let sink = try await RunningSink.start(on: sinks.reactors[0])
    let runs = try runs(folder: folder, sink)
    let isGood = try await loads.reactors[0].perform { try await runs.run(on: $0) }
    await sink.stop()
    await loads.stop()
    await sinks.stop()
    return isGood
  }

  private func runs(folder: String, _ sink: RunningSink) throws -> ServiceRuns {
    let authorityFile = "\(folder)/sink-ca.pem"
    try sink.authority.write(toFile: authorityFile, atomically: true, encoding: .utf8)
    let bench = ServiceBench(
      sink: sink, credentials: ServiceCredentials(sinkURL: sink.url, authorityFile: authorityFile),
      moreSettings: Self.dictionary(settings), folder: folder, connections: connections, warmUpSeconds: warmUp,
      seconds: seconds, burstInsert: burstInsert, sustainedFrom: sustainedFrom)
    return ServiceRuns(
      bench: bench, subjects: subjects, hostConninfos: Self.dictionary(hostDatabases), scenarios: scenarios,
      rounds: firstRound...(firstRound + rounds - 1))
  }

  /// The last value of a name counts.
  private static func dictionary(_ values: [NamedValue]) -> [String: String] {
    Dictionary(values.map { ($0.name, $0.value) }) { $1 }
  }

  private static func makeFolder() throws -> String {
    var template = Array("/tmp/tacet-bench.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(operation: "mkdtemp", code: errno) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Progress messages and results.
enum Progress {
  /// A line on standard error.
  static func say(_ line: String) {
    let text = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, text, text.count)
  }

  /// A line of JSON on standard output, flushed, so that an interrupted measurement keeps its runs.
  static func print(_ run: BenchRun) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    Swift.print(String(decoding: try encoder.encode(run), as: UTF8.self))
    fflush(nil)
  }
}

/// Why a run has no figures.
struct BenchError: Error, CustomStringConvertible, Equatable {
  let description: String

  init(_ description: String) { self.description = description }
}

/// All scenarios, each in rounds in which the subjects take turns.
struct ServiceRuns: Sendable {
  let bench: ServiceBench
  let subjects: [Subject]
  /// The load's connection string by the subject's name.
  let hostConninfos: [String: String]
  let scenarios: [ServiceScenario]
  /// Their numbers, from 1.
  let rounds: ClosedRange<Int>

  /// Prints a line after each run.
  /// - Returns: whether all runs succeeded.
  func run(on reactor: isolated Reactor) async throws -> Bool {
    var benches: [SubjectBench] = []
    defer { for bench in benches { bench.close(on: reactor) } }
    for subject in subjects {
      let host = hostConninfos[subject.name] ?? subject.conninfo
      benches.append(try await SubjectBench.open(subject, hostConninfo: host, on: reactor))
    }
    var isGood = true
    for scenario in scenarios {
      for round in rounds {
        for subject in Self.turns(of: benches, inRound: round) {
          isGood = await run(scenario, subject, round: round, on: reactor) && isGood
        }
      }
    }
    return isGood
  }

  /// Each round begins with the next subject.
  static func turns<Element>(of all: [Element], inRound round: Int) -> [Element] {
    let first = (round - 1) % all.count
    return Array(all[first...] + all[..<first])
  }

  private func run(
    _ scenario: ServiceScenario, _ subject: SubjectBench, round: Int, on reactor: isolated Reactor
  ) async -> Bool {
    let name = "\(scenario), \(subject.subject.name), round \(round)"
    Progress.say(name)
    do {
      let figures = try await measure(scenario, subject, on: reactor)
      try Progress.print(
        BenchRun(scenario: "\(scenario)", subject: subject.subject.name, round: round, figures: figures))
      return true
    } catch {
      Progress.say("\(name): failed: \(error)")
      return false
    }
  }

  private func measure(
    _ scenario: ServiceScenario, _ subject: SubjectBench, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    let run = ScenarioRun(bench: bench, subject: subject)
    return switch scenario {
    case .messages(let rate):
      try await run.messages(
        perSecond: Double(rate), warmUpSeconds: bench.warmUpSeconds, seconds: bench.seconds, on: reactor)
    case .sustained: try await run.sustained(on: reactor)
    case .burst(let messages): try await run.burst(messages, on: reactor)
    case .fanOut(let recipients): try await run.fanOut(recipients, on: reactor)
    case .start: try await run.start(on: reactor)
    }
  }
}

/// A scenario, with the name in its reports.
enum ServiceScenario: ExpressibleByArgument, Sendable, Equatable, CustomStringConvertible {
  /// Messages inserted at a steady rate per second: `messages-RATE`.
  case messages(perSecond: Int)
  case sustained
  /// One message to many: `fanout-RECIPIENTS`.
  case fanOut(recipients: Int)
  /// Many messages at once: `burst-MESSAGES`.
  case burst(messages: Int)
  case start

  /// Numbers are from 1 to a million, without a sign or leading zeros.
  init?(argument: String) {
    let words = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let number = words.count == 2 ? Int(words[1]).flatMap { (1...1_000_000).contains($0) ? $0 : nil } : nil
    let scenario: ServiceScenario? =
      switch words[0] {
      case "messages": number.map { .messages(perSecond: $0) }
      case "burst": number.map { .burst(messages: $0) }
      case "fanout": number.map { .fanOut(recipients: $0) }
      case "sustained": .sustained
      case "start": .start
      default: nil
      }
    guard let scenario, scenario.description == argument else { return nil }
    self = scenario
  }

  var description: String {
    switch self {
    case .messages(let rate): "messages-\(rate)"
    case .sustained: "sustained"
    case .burst(let messages): "burst-\(messages)"
    case .fanOut(let recipients): "fanout-\(recipients)"
    case .start: "start"
    }
  }
}

/// A subject with its database: the shared parts of its runs.
final class SubjectBench {
  /// The time to finish the work of a run.
  private static let quietLimit = Duration.seconds(60)

  let subject: Subject
  /// The load's connection string.
  let hostConninfo: String
  /// A session of the tables' owner.
  let control: PostgresConnection
  let conversations: [BenchConversation]
  /// Nil when the server's processes are not accessible.
  let postmaster: pid_t?

  private init(
    _ subject: Subject, hostConninfo: String, control: PostgresConnection, conversations: [BenchConversation]
  ) {
    self.subject = subject
    self.hostConninfo = hostConninfo
    self.control = control
    self.conversations = conversations
    postmaster = ClusterUsage.postmaster(ofBackend: control.backendID)
  }

  /// Connects, and prepares the picked conversations.
  static func open(
    _ subject: Subject, hostConninfo: String, on reactor: isolated Reactor
  ) async throws -> SubjectBench {
    let control = try await PostgresConnection.connect(
      .bench(subject.conninfo, application: "control"), logger: Logger(label: "control"), on: reactor)
    let conversations = try await HostScene.prepare(control, on: reactor)
    return SubjectBench(subject, hostConninfo: hostConninfo, control: control, conversations: conversations)
  }

  func close(on reactor: isolated Reactor) { control.close(on: reactor) }

  /// Waits until the service has nothing left to do.
  func awaitQuiet(on reactor: isolated Reactor) async throws {
    let deadline = Reactor.now + Self.quietLimit.clampedNanoseconds
    while try await control.query(Self.hasWork, on: reactor).one().decode("has_work", as: Bool.self) {
      guard Reactor.now < deadline else { throw BenchError("inbox and deliveries did not become empty") }
      await reactor.sleep(for: .milliseconds(20))
    }
  }

  /// Makes a checkpoint, so that none falls into a run. Skipped without the privilege.
  func checkpoint(on reactor: isolated Reactor) async throws {
    guard try await control.query(Self.mayCheckpoint, on: reactor).one().decode("may", as: Bool.self) else { return }
    try await control.simple("checkpoint", on: reactor)
  }

  private static let hasWork = PostgresStatement(
    "bench_has_work",
    "select exists (select from tacet.inbox) or exists (select from tacet.deliveries) as has_work")

  /// Since PostgreSQL 15 there is a role for it.
  private static let mayCheckpoint = PostgresStatement(
    "bench_may_checkpoint",
    """
    select exists (
      select from pg_roles me where me.rolname = current_user and me.rolsuper
      union all
      select from pg_roles r where r.rolname = 'pg_checkpoint' and pg_has_role(r.oid, 'usage')
    ) as may
    """)
}

/// `NAME=PROGRAM,CONNINFO`: a build of the service, and a database that its own program has migrated.
struct Subject: ExpressibleByArgument, Sendable, Equatable {
  let name: String
  /// The path of `tacet`.
  let program: String
  /// libpq's connection string for the owner of the tables. It may contain commas and equals signs.
  let conninfo: String

  init?(argument: String) {
    guard let named = NamedValue(argument: argument), let comma = named.value.firstIndex(of: ",") else { return nil }
    name = named.name
    program = String(named.value[..<comma])
    conninfo = String(named.value[named.value.index(after: comma)...])
    guard !program.isEmpty, !conninfo.isEmpty else { return nil }
  }
}

/// `NAME=VALUE`, cut at the first equals sign; both have at least one character.
struct NamedValue: ExpressibleByArgument, Sendable, Equatable {
  let name: String
  let value: String

  init?(argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<sign])
    value = String(argument[argument.index(after: sign)...])
    guard !name.isEmpty, !value.isEmpty else { return nil }
  }
}
