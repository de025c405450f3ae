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

      Fails when a run failed, such as one that lost a message, unless it was of
      the subject `against`: another build may lack what a scenario needs.
      """)

  @Option(name: .customLong("subject"), help: "A build and its database, NAME=PROGRAM,CONNINFO; may be repeated.")
  var subjects: [Subject]

  @Option(help: "The role with which the load connects; the subject's when left out.")
  var hostRole: String?

  @Option(
    name: .customLong("scenario"),
    help: """
      messages-RATE, unfolded-RATE, sustained, group-RECIPIENTS, burst-MESSAGES, kill or start; may be repeated.
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
      return subject == "against"
    }
  }

  private func measure(
    _ scenario: ServiceScenario, _ subject: SubjectBench, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    let run = ScenarioRun(bench: bench, subject: subject)
    return switch scenario.kind {
    case .messages: try await run.messages(perSecond: Double(scenario.number), on: reactor)
    case .unfolded: try await run.unfolded(perSecond: Double(scenario.number), on: reactor)
    case .group: try await run.group(of: scenario.number, on: reactor)
    case .burst: try await run.burst(scenario.number, on: reactor)
    case .sustained: try await run.sustained(on: reactor)
    case .kill: try await run.kill(on: reactor)
    case .start: try await run.start(on: reactor)
    }
  }
}

/// A scenario, with the name in its reports: `messages-300`.
struct ServiceScenario: ExpressibleByArgument, Sendable, Equatable, CustomStringConvertible {
  enum Kind: String {
    case messages, unfolded, group, burst, sustained, kill, start
  }

  let kind: Kind
  /// Messages a second, recipients or messages, to a million; 0 for the last three.
  let number: Int

  init?(argument: String) {
    let words = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let kind = Kind(rawValue: String(words[0])) else { return nil }
    self.kind = kind
    number = words.count == 2 ? Int(words[1]) ?? 0 : 0
    guard description == argument,
      [.sustained, .kill, .start].contains(kind) != (1...1_000_000).contains(number)
    else { return nil }
  }

  var description: String { number > 0 ? "\(kind)-\(number)" : kind.rawValue }
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

  /// Connects, and reads the picked conversations.
  static func open(
    _ subject: Subject, hostConninfo: String, on reactor: isolated Reactor
  ) async throws -> SubjectBench {
    let control = try await PostgresConnection.connect(
      .bench(subject.conninfo, application: "control"), logger: Logger(label: "control"), on: reactor)
    let conversations = try await HostScene.picked(control, on: reactor)
    return SubjectBench(subject, hostConninfo: hostConninfo, control: control, conversations: conversations)
  }

  func close(on reactor: isolated Reactor) { control.close(on: reactor) }

  /// Waits until the service has nothing left to do.
  /// - Parameter isOver: waits between two looks; true ends them.
  func awaitQuiet(on reactor: isolated Reactor, or isOver: (() async -> Bool)? = nil) async throws {
    let deadline = Reactor.now + Self.quietLimit.clampedNanoseconds
    while try await control.query(.hasWork, on: reactor).one().decode("has_work", as: Bool.self) {
      guard Reactor.now < deadline else { throw BenchError("inbox and deliveries did not become empty") }
      if let isOver {
        if await isOver() { return }
      } else {
        await reactor.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Has the service own its conversations for long, as in life: for half a minute it asks the ledger what was before.
  func ageOwnership(on reactor: isolated Reactor) async throws {
    // A service reads it with the next renewal of its lease. Earlier builds own nothing.
    guard (try? await control.query(.hasShards, on: reactor)) != nil else { return }
    let deadline = Reactor.now + Self.quietLimit.clampedNanoseconds
    while try await control.query(.ageShards, on: reactor).affectedCount == 0 {
      guard Reactor.now < deadline else { throw BenchError("the service did not take its conversations") }
      await reactor.sleep(for: .milliseconds(20))
    }
    await reactor.sleep(for: .milliseconds(2500))
  }

  /// Makes a checkpoint, so that none falls into a run. Goes without where the role may not.
  func checkpoint(on reactor: isolated Reactor) async { try? await control.simple("checkpoint", on: reactor) }

  /// The devices of those for whom a message was folded into a newer one.
  func folded(of messages: [UUID], on reactor: isolated Reactor) async throws -> [UUID: Set<DeviceKey>] {
    var folded: [UUID: Set<DeviceKey>] = [:]
    for row in try await control.query(.folded, [messages], on: reactor) {
      let (message, token): (UUID, String) = try (row.decode("subject_id"), row.decode("device_token"))
      if let device = DeviceKey(token: token) { folded[message, default: []].insert(device) }
    }
    return folded
  }

  /// The place in the write-ahead log, and how many rows of the queue have been updated or deleted.
  func writes(on reactor: isolated Reactor) async throws -> (place: String, deadRows: Int64) {
    let row = try await control.query(.writes, on: reactor).one()
    return try (row.decode("place"), row.decode("dead_rows"))
  }

  /// What the database wrote for a message, when all sessions but this one have ended. Without page images, which depend on the
  /// last checkpoint; they need the extension pg_walinspect.
  func figures(
    since before: (place: String, deadRows: Int64), messages: Int, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    // Ended sessions report what they have done.
    await reactor.sleep(for: .milliseconds(200))
    var figures = [
      "dead_rows_per_message": Double(try await writes(on: reactor).deadRows - before.deadRows) / Double(messages)
    ]
    if let bytes = try? await control.query(.walBytes, [before.place], on: reactor).one().decode(
      "bytes", as: Int64.self)
    {
      figures["wal_bytes_per_message"] = Double(bytes) / Double(messages)
    }
    return figures
  }
}

extension PostgresStatement {
  fileprivate static let hasWork = PostgresStatement(
    "bench_has_work",
    "select exists (select from tacet.inbox) or exists (select from tacet.deliveries) as has_work")

  fileprivate static let hasShards = PostgresStatement("bench_has_shards", "select from tacet.shards limit 1")

  fileprivate static let ageShards = PostgresStatement(
    "bench_age_shards",
    """
    update tacet.shards set taken_at = taken_at - interval '1 hour'
    where not exists (select from tacet.shards s where s.owner is null)
    """)

  fileprivate static let folded = PostgresStatement(
    "bench_folded",
    """
    select l.subject_id, t.device_token
    from tacet.push_log l join public.push_tokens t using (user_id)
    where l.subject_id = any ($1) and l.push_type = 'message' and l.decision = 'skipped' and l.reason = 'folded'
    """,
    [.array(of: .uuid)])

  fileprivate static let writes = PostgresStatement(
    "bench_writes",
    """
    select pg_current_wal_flush_lsn()::text as place, sum(s.n_tup_upd + s.n_tup_del)::bigint as dead_rows
    from pg_stat_all_tables s
    where s.schemaname = 'tacet' and s.relname in ('inbox', 'deliveries')
    """)

  fileprivate static let walBytes = PostgresStatement(
    "bench_wal_bytes",
    """
    select sum(s.record_size)::bigint as bytes
    from public.pg_get_wal_stats($1::text::pg_lsn, pg_current_wal_flush_lsn()) s
    """,
    [.text])
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
