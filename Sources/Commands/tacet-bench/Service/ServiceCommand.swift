import ArgumentParser
import FoundationEssentials
import Glibc
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
      program and filled by deploy/lib/measure.sql.

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
