import ArgumentParser
import Explanations
import FoundationEssentials
internal import PushKinds
import PushStore
import Reactors
import SenderLogs
import Settings

/// `tacet compare`
struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares the ledger with what another sender pushed, or takes that sender's log in.",
    discussion: """
      Needs DATABASE_URL and nothing else. With --import or --table it takes the log in; the same log again changes \
      nothing. Otherwise it prints a report of a time, in which a push that a shadow (SHADOW) withheld counts as pushed. \
      Exits 0 when all is well, 1 when a line of the log could not be used or more pairs differ than \
      --most-differences, 2 when it could not be done.
      """)

  @OptionGroup var source: SenderLogOptions

  @Option(help: "The beginning of the time, such as 2026-11-19T00:00:00Z. A week ago without it.")
  var from: String?

  @Option(help: "Its end, which is outside. Now without it.")
  var to: String?

  @Option(help: "A kind that is compared; may be repeated. Messages without it.")
  var kind: [String] = []

  @Option(help: "The most pairs of event and recipient that may differ. Any number without it.")
  var mostDifferences: Int?

  @Flag(help: "The report as JSON.")
  var json = false

  /// A report reads a week of a busy ledger; an import may take a table of millions.
  private static let limit = Duration.seconds(600)

  private static let cannot = ExitCode(2)

  func validate() throws {
    guard source.file == nil || source.table == nil else {
      throw ValidationError("--import and --table exclude each other.")
    }
    if let mostDifferences, mostDifferences < 0 { throw ValidationError("--most-differences is a number from 0.") }
  }

  func run() async throws {
    let isWell: Bool
    do {
      let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: false)
      isWell = source.isGiven ? try await takeIn(settings) : try await report(settings)
    } catch {
      StandardStream.error.say("tacet compare: \(String(reflecting: error))\n")
      throw Self.cannot
    }
    guard isWell else { throw ExitCode(1) }
  }

  private func takeIn(_ settings: CommandSettings) async throws -> Bool {
    let source = source
    return try await OperatorSession.perform(settings, writingWithin: Self.limit) { database, reactor in
      try await SenderLogImport(source, into: database).run(on: reactor)
    }
  }

  private func report(_ settings: CommandSettings) async throws -> Bool {
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    let (from, to) = (try Self.time(from, "from") ?? now - 7 * 86_400_000_000, try Self.time(to, "to") ?? now)
    guard from < to else { throw UnusableOption(name: "to", form: "later than --from") }
    let kinds = kind.isEmpty ? [MessagePush.name] : kind
    guard kinds.allSatisfy(PushSubject.canBeKind) else { throw UnusableOption(name: "kind", form: "a kind") }
    let comparison = try await OperatorSession.perform(settings, within: Self.limit) { database, reactor in
      let (verdicts, sounds) = try await database.compare(from: from, to: to, kinds: kinds, on: reactor)
      return SenderComparison(verdicts, sounds: sounds, time: from..<to, kinds: kinds)
    }
    StandardStream.output.say(json ? comparison.json + [UInt8(ascii: "\n")] : Array(comparison.text.utf8))
    return mostDifferences.map { comparison.differences <= $0 } ?? true
  }

  private static func time(_ text: String?, _ name: String) throws -> Int64? {
    try text.map { text in
      guard let time = InstantText.microseconds(of: text) else {
        throw UnusableOption(name: name, form: "an instant such as 2026-11-19T00:00:00Z")
      }
      return time
    }
  }
}
