import FoundationEssentials

/// A recorded ratio, and what has become of it.
public struct RatioCheck: Sendable, Equatable {
  /// What has become of it.
  public enum Outcome: String, Encodable, Sendable {
    case kept
    /// Worse by more than `tolerancePercent`, and worse in every round than in any of the record.
    case regressed
    /// The runs lack one of its figures.
    case missing
  }

  /// How much worse than recorded a ratio may be, as a part of the record; exactly as much is none.
  public static let tolerancePercent = 15.0

  /// The ratio and its record.
  public let record: RecordedRatio
  /// `nil` when the runs lack it.
  public let measured: Spread?

  /// Compares medians and spreads.
  public init(_ record: RecordedRatio, in runs: BenchRuns) {
    self.record = record
    measured = record.ratio.quantity.spread(in: runs)
  }

  /// A median moves with whatever else the machine does; a slower program is slower in every round.
  public var outcome: Outcome {
    guard let measured else { return .missing }
    let recorded = record.recorded
    let isWorse =
      switch record.ratio.worse {
      case .higher:
        measured.median * 100 > recorded.median * (100 + Self.tolerancePercent) && measured.lowest > recorded.highest
      case .lower:
        measured.median * 100 < recorded.median * (100 - Self.tolerancePercent) && measured.highest < recorded.lowest
      }
    return isWorse ? .regressed : .kept
  }

  /// The measured median over the recorded one; `nil` when the runs lack it.
  public var change: Double? {
    measured.map { $0.median / record.recorded.median }
  }
}

/// A ratio as a measurement had it once.
public struct RecordedRatio: Codable, Equatable, Sendable {
  /// What was recorded.
  public let ratio: RatioDefinition
  /// Over the rounds of that measurement.
  public let recorded: Spread

  /// - Returns: `nil` when the runs lack it.
  init?(_ ratio: RatioDefinition, in runs: BenchRuns) {
    guard let spread = ratio.quantity.spread(in: runs) else { return nil }
    self.ratio = ratio
    recorded = spread
  }

  init(_ ratio: RatioDefinition, recorded: Spread) {
    self.ratio = ratio
    self.recorded = recorded
  }

  /// Those of the definitions that the runs have.
  public static func all(
    of definitions: [RatioDefinition] = RatioDefinition.all, in runs: BenchRuns
  ) -> [RecordedRatio] {
    definitions.compactMap { RecordedRatio($0, in: runs) }
  }

  /// Reads the text of a file that `json` has made.
  /// - Throws: `unreadableRatios`; a file without ratios is none.
  public static func all(json: String) throws(BenchReportError) -> [RecordedRatio] {
    guard let ratios = try? JSONDecoder().decode([RecordedRatio].self, from: Data(json.utf8)), !ratios.isEmpty else {
      throw .unreadableRatios
    }
    return ratios
  }

  /// The text of a file of recorded ratios, which changes in few lines when a value does.
  public static func json(_ ratios: [RecordedRatio]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(ratios), as: UTF8.self) + "\n"
  }
}

/// A ratio that is recorded, and checked against its record.
public struct RatioDefinition: Codable, Equatable, Sendable {
  /// Which way a regression goes.
  public enum Direction: String, Codable, Sendable {
    case higher, lower
  }

  /// In a few words.
  public let name: String
  /// What stands above the line.
  public let numerator: FigurePath
  /// What stands below the line.
  public let denominator: FigurePath
  /// The direction in which it gets worse.
  public let worse: Direction

  /// A definition.
  public init(_ name: String, _ numerator: FigurePath, over denominator: FigurePath, worse: Direction) {
    self.name = name
    self.numerator = numerator
    self.denominator = denominator
    self.worse = worse
  }

  var quantity: Quantity { .ratio(numerator, over: denominator) }
}

extension RatioDefinition {
  /// The ratios that are worth checking: processor time over that of something else that was disturbed by the same things.
  ///
  /// A service that is mostly asleep is set beside a client of the database that is as much asleep (pgbench at 300
  /// inserts a second), one at work beside one at work (h2load): what a wake-up costs differs between machines in
  /// another way than what a request costs.
  ///
  /// Two quick measurements on a machine that had twice as much to do as it has processors had these medians within 6 % of
  /// each other, and three before them within 18 %. Others moved too far there to be checked: processor time beside
  /// nginx's by 18 and 50 %, the time of a fan-out beside that of a smaller one by 25 %, rates beside those of their
  /// references by a factor of up to two, latencies by one of five.
  public static let all = [
    RatioDefinition(
      "service CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(300), "cpu_us_per_push"), over: pacedInsert, worse: .higher),
    RatioDefinition(
      "database CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(300), "database_cpu_us_per_push"), over: pacedInsert, worse: .higher),
    RatioDefinition(
      "service CPU per push of a burst, over h2load's per request", ours(BenchScenario.burst, "cpu_us_per_push"),
      over: h2loadRequest, worse: .higher),
    RatioDefinition(
      "APNs client: CPU per request, over h2load's", ours(BenchScenario.client, "cpu_us_per_request"),
      over: h2loadRequest, worse: .higher),
    growth(BenchSubject.tenMillionRows),
    growth(BenchSubject.millionRows),
    growth(BenchSubject.hundredThousandRows),
  ]

  private static let h2loadRequest = FigurePath(
    BenchScenario.client, BenchSubject.h2load, "cpu_us_per_request")

  private static let pacedInsert = FigurePath(
    BenchScenario.pacedInserts, BenchSubject.pgbench, "cpu_us_per_insert")

  private static func ours(_ scenario: String, _ figure: String) -> FigurePath {
    FigurePath(scenario, BenchSubject.tacet, figure)
  }

  private static func growth(_ subject: String) -> RatioDefinition {
    let scenario = BenchScenario.notify(300)
    return RatioDefinition(
      "service CPU per push at 300/s with \(subject) of history, over none",
      FigurePath(scenario, subject, "cpu_us_per_push"), over: ours(scenario, "cpu_us_per_push"), worse: .higher)
  }
}
