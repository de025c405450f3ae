import ArgumentParser
import Explanations
import FoundationEssentials
import PushKinds
import PushStore
import Replay
import Settings

/// `tacet replay`
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Decides past pushes again by other rules, and says who would have been pushed more, fewer, later.",
    discussion: """
      Needs DATABASE_URL and nothing else. It reads the ledger, sends nothing and writes nothing.

      Without rules it checks the ledger: every push is decided again by the rules of its time, which must come to what \
      is recorded. Exits 0 when they do, 1 when they do not, 2 when it could not ask.

      The rules are a JSON object. All members may be left out; what is left out stays as it was:
        {
          "window_seconds": 60,
          "message_ttl_seconds": 3600,
          "quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "Europe/Berlin", "policy": "hold"},
          "mentions": {"break_mute": true, "break_quiet_hours": true},
          "fold_window_seconds": 20,
          "kinds": {"coach": {"message_ttl_seconds": 600}}
        }
      quiet_hours apply to everyone, instead of the users' own; null is for none. kinds has other rules for single kinds.

      The first claim of a push is decided first. A hold that the changed rules end earlier ends with what was known \
      then: until something ends a hold, nothing changes. A hold that they end later goes on to the next recorded claim. \
      A push that was sent, and which they hold, is "later or never": nobody recorded whether the recipient read it \
      during that hold. What depends on an input that the ledger does not have is "not recorded".
      """)

  @Option(
    help: "Pushes of events committed from then on: 2026-11-25T08:00:00Z or 2026-11-25. Default: a day before --to.")
  var from: String?

  @Option(help: "Until then, exclusive. Default: now.")
  var to: String?

  @Option(help: "The file with the rules. Without it, those of the time of each push.")
  var rules: String?

  @Option(help: "The one kind of event. Default: all.")
  var kind: String?

  @Option(help: "Examples of each change, at most 100.")
  var examples = 3

  @Flag(help: "The report as JSON.")
  var json = false

  private static let day: Int64 = 86_400_000_000
  /// A few megabytes of answers. The session is this command's own, and no other work waits for its reactor.
  private static let pageRows = 5000

  private static let contradicted = ExitCode(1)
  private static let cannotAsk = ExitCode(2)

  func run() async throws {
    let request: ReplayRequest
    let report: ReplayReport
    do {
      request = try self.request()
      let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: false)
      report = try await OperatorSession.perform(settings) { [request] in try await request.run(in: $0, on: $1) }
    } catch {
      StandardStream.error.say("tacet replay: \(String(reflecting: error))\n")
      throw Self.cannotAsk
    }
    StandardStream.output.say(json ? report.json + [UInt8(ascii: "\n")] : Array(report.text.utf8))
    if request.rules.isUnchanged, report.differences + report.inconsistent > 0 { throw Self.contradicted }
  }

  private func request() throws -> ReplayRequest {
    let end = try to.map { try Self.instant($0, "to") } ?? TimeText.now
    let start = try from.map { try Self.instant($0, "from") } ?? end - Self.day
    guard start <= end else { throw UnusableOption(name: "from", form: "not later than --to") }
    guard kind.map(PushSubject.canBeKind) != false else { throw UnusableOption(name: "kind", form: "a kind") }
    guard (0...100).contains(examples) else { throw UnusableOption(name: "examples", form: "a number from 0 to 100") }
    var request = ReplayRequest(span: start..<end, kind: kind)
    if let rules { request.rules = try Self.rules(rules) }
    request.pageRows = Self.pageRows
    request.examplesMax = examples
    return request
  }

  private static func instant(_ text: String, _ name: String) throws -> Int64 {
    let text = InstantText.isDate(text) ? text + "T00:00:00Z" : text
    guard let instant = InstantText.microseconds(of: text) else {
      throw UnusableOption(name: name, form: "a time like 2026-11-25T08:00:00Z, or a date")
    }
    return instant
  }

  private static func rules(_ path: String) throws -> ReplayRules {
    do {
      return try ReplayRules(json: LocalFile.read(path: path))
    } catch let error as LocalFile.ReadError {
      throw UnusableOption(name: "rules", form: "a file; \(path) cannot be read: \(error.reason)")
    } catch let error as ReplayRulesError {
      throw UnusableOption(name: "rules", form: "a file of rules; in \(path), \(error)")
    }
  }
}
