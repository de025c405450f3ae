import FoundationEssentials

package struct Target: Sendable, Equatable {
  package let what: String
  package let quantity: Quantity
  /// The bound of its median.
  package let bound: Bound
  /// The unit of the bound; empty for a ratio.
  package let unit: String

  package init(_ what: String, _ quantity: Quantity, _ bound: Bound, _ unit: String = "") {
    self.what = what
    self.quantity = quantity
    self.bound = bound
    self.unit = unit
  }

  /// Such as `<= 3.5 ms`.
  var text: String { unit.isEmpty ? bound.text : "\(bound.text) \(unit)" }
}

/// An inclusive bound of a measured value.
package enum Bound: Equatable, Sendable {
  case atMost(Double)
  case atLeast(Double)

  package func holds(for value: Double) -> Bool {
    switch self {
    case .atMost(let highest): value <= highest
    case .atLeast(let lowest): value >= lowest
    }
  }

  /// Such as `<= 3.5`.
  package var text: String {
    switch self {
    case .atMost(let highest): "<= \(Decimals.plain(highest))"
    case .atLeast(let lowest): ">= \(Decimals.plain(lowest))"
    }
  }
}

/// A target and its measurement.
package struct Verdict: Sendable, Equatable {
  package enum Outcome: String, Encodable, Sendable {
    case met, missed
    /// The measurement had no scenario for it.
    case unmeasured = "not measured"
  }

  package let target: Target
  package let spread: Spread?

  init(_ target: Target, in runs: BenchRuns) {
    self.target = target
    spread = target.quantity.spread(in: runs)
  }

  /// By the median.
  package var outcome: Outcome {
    guard let spread else { return .unmeasured }
    return target.bound.holds(for: spread.median) ? .met : .missed
  }
}

extension Target {
  /// The product's targets: two processors, everything on one machine, PostgreSQL durable.
  package static let all = way + capacity + client + growth + footprint

  private static let way = [
    Target(
      "commit to accepted at 300/s, p50", figure(BenchScenario.messages(300), "accepted_p50_ms"), .atMost(0.6), "ms"),
    Target(
      "commit to accepted at 300/s, p99", figure(BenchScenario.messages(300), "accepted_p99_ms"), .atMost(1.8), "ms"),
    Target(
      "commit to accepted at 1000/s, p50", figure(BenchScenario.messages(1000), "accepted_p50_ms"), .atMost(0.8), "ms"),
    Target(
      "commit to accepted at 1000/s, p99", figure(BenchScenario.messages(1000), "accepted_p99_ms"), .atMost(3.5), "ms"),
  ]

  private static let capacity = [
    Target(
      "sustained, p99 below 100 ms", figure(BenchScenario.sustained, "messages_per_second"), .atLeast(5000),
      "messages/s"),
    Target("service CPU per push at that rate", figure(BenchScenario.sustained, "cpu_us_per_push"), .atMost(25), "µs"),
    Target("service CPU per push at 300/s", figure(BenchScenario.messages(300), "cpu_us_per_push"), .atMost(120), "µs"),
    Target(
      "database CPU per push at the sustained rate", figure(BenchScenario.sustained, "database_cpu_us_per_push"),
      .atMost(220), "µs"),
    Target("database CPU at 300/s over bare inserts", database(over: 300), .atMost(2)),
    Target("database CPU at 1000/s over bare inserts", database(over: 1000), .atMost(1.6)),
    Target("burst of 10,000, all accepted", figure(BenchScenario.burst, "complete_ms"), .atMost(3000), "ms"),
  ]

  private static let client = [
    Target(
      "pushes per CPU-second, client alone", figure(BenchScenario.client, "requests_per_cpu_second"), .atLeast(250_000)),
    Target(
      "the same over h2load's", ratio(BenchScenario.client, "requests_per_cpu_second", over: BenchSubject.h2load),
      .atLeast(0.75)),
    Target(
      "APNs client over h2load, requests/s",
      ratio(BenchScenario.client, "requests_per_second", over: BenchSubject.h2load), .atLeast(0.7)),
    Target(
      "HTTP server over nginx, requests/s",
      ratio(BenchScenario.server, "requests_per_second", over: BenchSubject.nginx),
      .atLeast(1.15)),
  ]

  private static let growth = [
    Target("10 million rows over empty, p50 at 300/s", grown("accepted_p50_ms"), .atMost(1.15)),
    Target("10 million rows over empty, service CPU at 300/s", grown("cpu_us_per_push"), .atMost(1.15)),
  ]

  private static let footprint = [
    Target("memory idle", figure(BenchScenario.start, "rss_mb"), .atMost(20), "MB"),
    Target("memory under load", figure(BenchScenario.sustained, "rss_mb"), .atMost(35), "MB"),
    Target("start to ready", figure(BenchScenario.start, "ready_ms"), .atMost(40), "ms"),
  ]

  private static func figure(_ scenario: String, _ figure: String) -> Quantity {
    .figure(FigurePath(scenario, BenchSubject.tacet, figure))
  }

  private static func ratio(_ scenario: String, _ figure: String, over reference: String) -> Quantity {
    .ratio(FigurePath(scenario, BenchSubject.tacet, figure), over: FigurePath(scenario, reference, figure))
  }

  private static func database(over rate: Int) -> Quantity {
    .ratio(
      FigurePath(BenchScenario.messages(rate), BenchSubject.tacet, "database_cpu_us_per_push"),
      over: FigurePath(BenchScenario.inserts(rate), BenchSubject.pgbench, "database_cpu_us_per_insert"))
  }

  private static func grown(_ figure: String) -> Quantity {
    let scenario = BenchScenario.messages(300)
    return .ratio(
      FigurePath(scenario, BenchSubject.tenMillionRows, figure), over: FigurePath(scenario, BenchSubject.tacet, figure))
  }
}

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
