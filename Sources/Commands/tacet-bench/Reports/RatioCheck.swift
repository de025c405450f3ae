import FoundationEssentials

package struct RatioCheck: Sendable, Equatable {
  package enum Outcome: String, Encodable, Sendable {
    case kept
    /// Worse by more than `tolerancePercent`, and in every round worse than all recorded ones.
    case regressed
    /// The runs lack one of its figures.
    case missing
  }

  /// How much worse than recorded a ratio may be, in percent of the record; inclusive.
  package static let tolerancePercent = 15.0

  package let record: RecordedRatio
  package let measured: Spread?

  /// Compares medians and spreads.
  package init(_ record: RecordedRatio, in runs: BenchRuns) {
    self.record = record
    measured = record.ratio.quantity.spread(in: runs)
  }

  /// A median also moves with other load on the machine; a slower program is slower in every round.
  package var outcome: Outcome {
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
  package var change: Double? {
    measured.map { $0.median / record.recorded.median }
  }
}

/// A ratio recorded from an earlier measurement.
package struct RecordedRatio: Codable, Equatable, Sendable {
  package let ratio: RatioDefinition
  package let recorded: Spread

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

  /// The ratios that the runs contain.
  package static func all(
    of definitions: [RatioDefinition] = RatioDefinition.all, in runs: BenchRuns
  ) -> [RecordedRatio] {
    definitions.compactMap { RecordedRatio($0, in: runs) }
  }

  /// Reads the text of a file that `json` has made.
  /// - Throws: `unreadableRatios`, also for a file without ratios.
  package static func all(json: String) throws(BenchReportError) -> [RecordedRatio] {
    guard let ratios = try? JSONDecoder().decode([RecordedRatio].self, from: Data(json.utf8)), !ratios.isEmpty else {
      throw .unreadableRatios
    }
    return ratios
  }

  /// The text of a file of recorded ratios. A changed value changes few lines.
  package static func json(_ ratios: [RecordedRatio]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(ratios), as: UTF8.self) + "\n"
  }
}

package struct RatioDefinition: Codable, Equatable, Sendable {
  /// The direction of a regression.
  package enum Direction: String, Codable, Sendable {
    case higher, lower
  }

  package let name: String
  package let numerator: FigurePath
  package let denominator: FigurePath
  package let worse: Direction

  package init(_ name: String, _ numerator: FigurePath, over denominator: FigurePath, worse: Direction) {
    self.name = name
    self.numerator = numerator
    self.denominator = denominator
    self.worse = worse
  }

  var quantity: Quantity { .ratio(numerator, over: denominator) }
}

extension RatioDefinition {
  /// The checked ratios: processor time over that of a reference with the same disturbances.
  ///
  /// A mostly idle service is compared with an equally idle client of the database (pgbench at 300 inserts a second),
  /// and a busy one with a busy reference (h2load), because the costs of wake-ups and requests differ between machines
  /// in different ways.
  ///
  /// Two quick measurements on a machine with twice as much load as processors had these medians within 6 % of each
  /// other, and three earlier ones within 18 %. Other ratios moved too far to be checked: processor time over nginx's
  /// by 18 and 50 %, the time of a fan-out over that of a smaller one by 25 %, rates over their references' by a factor
  /// of two, latencies by a factor of five.
  package static let all = [
    RatioDefinition(
      "service CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.messages(300), "cpu_us_per_push"), over: pacedInsert, worse: .higher),
    RatioDefinition(
      "database CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.messages(300), "database_cpu_us_per_push"), over: pacedInsert, worse: .higher),
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
    BenchScenario.inserts(300), BenchSubject.pgbench, "cpu_us_per_insert")

  private static func ours(_ scenario: String, _ figure: String) -> FigurePath {
    FigurePath(scenario, BenchSubject.tacet, figure)
  }

  private static func growth(_ subject: String) -> RatioDefinition {
    let scenario = BenchScenario.messages(300)
    return RatioDefinition(
      "service CPU per push at 300/s with \(subject) of history, over none",
      FigurePath(scenario, subject, "cpu_us_per_push"), over: ours(scenario, "cpu_us_per_push"), worse: .higher)
  }
}
