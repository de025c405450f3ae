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

  @Option(help: "The role with which the load connects; the subject's when left out.")
  var hostRole: String?

  @Option(
    name: .customLong("scenario"),
    help: """
      messages-RATE, sustained, fanout-RECIPIENTS, burst-MESSAGES or start; may be repeated.
      """)
  var scenarios: [ServiceScenario]

  @Option(help: "The number of the round.")
  var round = 1

  @Option(help: "Seconds that count, of a run at a steady rate.")
  var seconds = 10.0

  @Option(help: "Seconds before, which do not count.")
  var warmUp = 2.0

  @Option(help: "Where the services' logs are written, NAME.log.")
  var folder: String

  func validate() throws {
    guard round > 0, seconds > 0, warmUp >= 0 else {
      throw ValidationError("--round and --seconds are above 0, --warm-up is not below")
    }
    guard Set(subjects.map(\.name)).count == subjects.count else {
      throw ValidationError("two subjects have the same name")
    }
  }

  func run() async throws {
    let sinks = try ReactorGroup(count: 1, name: "sink")
    let loads = try ReactorGroup(count: 1, name: "load")
    let sink = try await RunningSink.start(on: sinks.reactors[0])
    let runs = try runs(sink)
    let isGood = try await loads.reactors[0].perform { try await runs.run(on: $0) }
    await sink.stop()
    await loads.stop()
    await sinks.stop()
    guard isGood else { throw ExitCode.failure }
  }

  private func runs(_ sink: RunningSink) throws -> ServiceRuns {
    let authorityFile = "\(folder)/sink-ca.pem"
    try sink.authority.write(toFile: authorityFile, atomically: true, encoding: .utf8)
    let bench = ServiceBench(
      sink: sink, credentials: ServiceCredentials(sinkURL: sink.url, authorityFile: authorityFile), folder: folder,
      warmUpSeconds: warmUp, seconds: seconds)
    return ServiceRuns(bench: bench, subjects: subjects, hostRole: hostRole, scenarios: scenarios, round: round)
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

/// The figures of one run of a scenario: a line of JSON, which deploy/lib/bench/report.py reads.
struct BenchRun: Codable, Sendable, Equatable {
  /// Such as `messages-300`; deploy/bench has the list.
  var scenario: String
  /// `tacet`, or another database or build.
  var subject: String
  /// From 1. The runs of a round were measured one after the other, in changing order.
  var round: Int
  /// By names that end in their unit, such as `accepted_p50_ms`.
  var figures: [String: Double]
}

/// Why a run has no figures.
struct BenchError: Error, CustomStringConvertible, Equatable {
  let description: String

  init(_ description: String) { self.description = description }
}

/// All scenarios of a round. deploy/bench says which subject is first.
struct ServiceRuns: Sendable {
  let bench: ServiceBench
  let subjects: [Subject]
  let hostRole: String?
  let scenarios: [ServiceScenario]
  let round: Int

  /// Prints a line after each run.
  /// - Returns: whether all runs succeeded.
  func run(on reactor: isolated Reactor) async throws -> Bool {
    var benches: [SubjectBench] = []
    defer { for bench in benches { bench.close(on: reactor) } }
    for subject in subjects {
      let host = hostRole.map { "\(subject.conninfo) user=\($0)" } ?? subject.conninfo
      benches.append(try await SubjectBench.open(subject, hostConninfo: host, on: reactor))
    }
    var isGood = true
    for scenario in scenarios {
      for bench in benches { isGood = await run(scenario, bench, on: reactor) && isGood }
    }
    return isGood
  }

  private func run(_ scenario: ServiceScenario, _ bench: SubjectBench, on reactor: isolated Reactor) async -> Bool {
    let subject = bench.subject.name
    Progress.say("\(scenario), \(subject), round \(round)")
    do {
      let figures = try await measure(scenario, bench, on: reactor)
      try Progress.print(BenchRun(scenario: "\(scenario)", subject: subject, round: round, figures: figures))
      return true
    } catch {
      Progress.say("\(scenario), \(subject), round \(round): failed: \(error)")
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
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    let rest = argument[sign...].dropFirst()
    guard let comma = rest.firstIndex(of: ",") else { return nil }
    name = String(argument[..<sign])
    program = String(rest[..<comma])
    conninfo = String(rest[comma...].dropFirst())
    guard !name.isEmpty, !program.isEmpty, !conninfo.isEmpty else { return nil }
  }
}
