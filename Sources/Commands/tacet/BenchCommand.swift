import ArgumentParser
import FoundationEssentials
import Postgres
import Reactors
import ReadBench
import Settings

/// `tacet bench`
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measures what Tacet reads in a database, before it goes live there. Writes nothing, sends nothing.",
    discussion: """
      Reads the newest messages as a claim does, in read-only transactions that it rolls back, and prints what a round trip, \
      each function of the host contract and the whole read of a message take. Needs a migrated database, and a role that \
      may read it: the service's, to see what the service will see. Exits 0, and 1 when it could not measure, or when \
      the read of a message takes longer than --limit-p99.
      """)

  @Option(help: "The database; DATABASE_URL without it. Other users of the machine can read options: no password here.")
  var against: String?

  @Option(help: "Messages at most, 1 to 10000.")
  var messages = 1000

  @Option(help: "Seconds at most, 1 to 3600; also for a statement, up to 5.")
  var seconds = 20

  @Option(help: "Sessions that read at once, 1 to 64.")
  var concurrency = 4

  @Option(help: "Messages a second of which the share is estimated.")
  var rate = 100

  @Option(
    name: .customLong("limit-p99"), help: "Exit with 1 if 1 in 100 reads of a message takes longer, in milliseconds.")
  var limitP99: Double?

  @Flag(help: "One JSON object instead of a page.")
  var json = false

  func validate() throws {
    for (name, value, range) in [
      ("messages", messages, BenchPlan.messagesRange), ("seconds", seconds, BenchPlan.secondsRange),
      ("concurrency", concurrency, BenchPlan.concurrencyRange), ("rate", rate, 1...1_000_000),
    ] where !range.contains(value) {
      throw ValidationError("--\(name) must be \(range.lowerBound) to \(range.upperBound).")
    }
    if let limitP99, !(limitP99 > 0 && limitP99 <= 60_000) {
      throw ValidationError("--limit-p99 must be more than 0 and at most 60000.")
    }
  }

  func run() async throws {
    let plan = BenchPlan(
      messages: messages, seconds: seconds, concurrency: concurrency, rate: rate,
      limitMicroseconds: limitP99.map { Int64($0 * 1000) })
    let figures: BenchFigures
    do {
      figures = try await measure(plan)
    } catch {
      StandardStream.error.say("tacet bench: \((error as? PostgresError)?.debugDescription ?? "\(error)")\n")
      throw ExitCode.failure
    }
    StandardStream.output.say(json ? figures.json(plan) + [UInt8(ascii: "\n")] : Array(figures.text(plan).utf8))
    throw ExitCode(figures.exitCode(limitMicroseconds: plan.limitMicroseconds))
  }

  private func measure(_ plan: BenchPlan) async throws -> BenchFigures {
    var environment = ProcessInfo.processInfo.environment
    if let against { environment["DATABASE_URL"] = against }
    let settings = try CommandSettings(environment: environment, needsSession: false)
    let run = BenchRun(
      settings.database.connectionString.exposed, isPooled: settings.database.poolMode == .transaction, plan,
      logger: settings.log.makeLogger(label: "tacet.bench"))
    return try await ReactorGroup.perform { try await run.run(on: $0) }
  }
}
