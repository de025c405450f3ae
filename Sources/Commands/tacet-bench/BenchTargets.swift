import FoundationEssentials

struct Target: Sendable, Equatable {
  let what: String
  let quantity: Quantity
  /// The inclusive bound of its median.
  let bound: Bound
  /// The unit of the bound; empty for a ratio.
  let unit: String

  enum Bound: Equatable, Sendable {
    case atMost(Double)
    case atLeast(Double)

    func holds(for value: Double) -> Bool {
      switch self {
      case .atMost(let highest): value <= highest
      case .atLeast(let lowest): value >= lowest
      }
    }
  }

  init(_ what: String, _ quantity: Quantity, _ bound: Bound, _ unit: String = "") {
    self.what = what
    self.quantity = quantity
    self.bound = bound
    self.unit = unit
  }

  /// Such as `<= 3.5 ms`.
  var text: String {
    let number =
      switch bound {
      case .atMost(let highest): "<= \(Decimals.plain(highest))"
      case .atLeast(let lowest): ">= \(Decimals.plain(lowest))"
      }
    return unit.isEmpty ? number : "\(number) \(unit)"
  }
}

extension Target {
  /// The product's targets: two processors, everything on one machine, PostgreSQL durable.
  static let all = [
    Target("commit to accepted at 300/s, p50", ours("messages-300", "accepted_p50_ms"), .atMost(0.6), "ms"),
    Target("commit to accepted at 300/s, p99", ours("messages-300", "accepted_p99_ms"), .atMost(1.8), "ms"),
    Target("commit to accepted at 1000/s, p50", ours("messages-1000", "accepted_p50_ms"), .atMost(0.8), "ms"),
    Target("commit to accepted at 1000/s, p99", ours("messages-1000", "accepted_p99_ms"), .atMost(3.5), "ms"),
    Target("sustained, p99 below 100 ms", ours("sustained", "messages_per_second"), .atLeast(5000), "messages/s"),
    Target("service CPU per push at that rate", ours("sustained", "cpu_us_per_push"), .atMost(25), "µs"),
    Target("service CPU per push at 300/s", ours("messages-300", "cpu_us_per_push"), .atMost(120), "µs"),
    Target(
      "database CPU per push at the sustained rate", ours("sustained", "database_cpu_us_per_push"), .atMost(220), "µs"),
    Target("database CPU at 300/s over bare inserts", database(over: 300), .atMost(2)),
    Target("database CPU at 1000/s over bare inserts", database(over: 1000), .atMost(1.6)),
    Target("burst of 10,000, all accepted", ours("burst-10000", "complete_ms"), .atMost(3000), "ms"),
    Target("pushes per CPU-second, client alone", ours("apns-client", "requests_per_cpu_second"), .atLeast(250_000)),
    Target("the same over h2load's", ours("apns-client", "requests_per_cpu_second", over: "h2load"), .atLeast(0.75)),
    Target(
      "APNs client over h2load, requests/s", ours("apns-client", "requests_per_second", over: "h2load"), .atLeast(0.7)),
    Target(
      "HTTP server over nginx, requests/s", ours("http-server", "requests_per_second", over: "nginx"), .atLeast(1.15)),
    Target("10 million rows over empty, p50 at 300/s", grown("accepted_p50_ms"), .atMost(1.15)),
    Target("10 million rows over empty, service CPU at 300/s", grown("cpu_us_per_push"), .atMost(1.15)),
    Target("memory idle", ours("start", "rss_mb"), .atMost(20), "MB"),
    Target("memory under load", ours("sustained", "rss_mb"), .atMost(35), "MB"),
    Target("start to ready", ours("start", "ready_ms"), .atMost(40), "ms"),
  ]

  private static func ours(_ scenario: String, _ figure: String, over reference: String? = nil) -> Quantity {
    let path = FigurePath(scenario, figure)
    return reference.map { .ratio(path, over: FigurePath(scenario, $0, figure)) } ?? .figure(path)
  }

  private static func database(over rate: Int) -> Quantity {
    .ratio(
      FigurePath("messages-\(rate)", "database_cpu_us_per_push"),
      over: FigurePath("inserts-\(rate)", "pgbench", "database_cpu_us_per_insert"))
  }

  private static func grown(_ figure: String) -> Quantity {
    .ratio(FigurePath("messages-300", "rows-10m", figure), over: FigurePath("messages-300", figure))
  }
}

/// A target and its measurement.
struct Verdict: Encodable, Sendable, Equatable {
  enum Outcome: String, Encodable, Sendable {
    case met, missed
    /// The measurement had no scenario for it.
    case unmeasured = "not measured"

    var answer: String {
      switch self {
      case .met: "yes"
      case .missed: "NO"
      case .unmeasured: rawValue
      }
    }
  }

  let what: String
  let target: String
  let measured: Spread?
  /// By the median.
  let outcome: Outcome

  init(_ target: Target, in runs: BenchRuns) {
    what = target.what
    self.target = target.text
    measured = target.quantity.spread(in: runs)
    outcome = measured.map { target.bound.holds(for: $0.median) ? .met : .missed } ?? .unmeasured
  }
}

/// A ratio beside the recorded one.
struct RatioCheck: Encodable, Sendable, Equatable {
  enum Outcome: String, Encodable, Sendable {
    case kept
    /// Worse by more than `tolerancePercent`, and in every round worse than all recorded ones.
    case regressed
    /// The runs lack one of its figures.
    case missing
  }

  /// How much worse than recorded a ratio may be, in percent of the record; inclusive.
  private static let tolerancePercent = 15.0

  let name: String
  let recorded: Spread
  let measured: Spread?
  /// The measured median over the recorded one; `nil` when the runs lack it.
  let change: Double?
  let outcome: Outcome

  init(_ record: RecordedRatio, in runs: BenchRuns) {
    name = record.ratio.name
    recorded = record.recorded
    measured = record.ratio.quantity.spread(in: runs)
    change = measured.map { $0.median / record.recorded.median }
    outcome = measured.map { Self.isWorse($0, than: record) ? .regressed : .kept } ?? .missing
  }

  /// A median also moves with other load on the machine; a slower program is slower in every round.
  private static func isWorse(_ measured: Spread, than record: RecordedRatio) -> Bool {
    let recorded = record.recorded
    return switch record.ratio.worse {
    case .higher:
      measured.median * 100 > recorded.median * (100 + tolerancePercent) && measured.lowest > recorded.highest
    case .lower:
      measured.median * 100 < recorded.median * (100 - tolerancePercent) && measured.highest < recorded.lowest
    }
  }
}

/// A ratio recorded from an earlier measurement.
struct RecordedRatio: Codable, Equatable, Sendable {
  let ratio: RatioDefinition
  let recorded: Spread

  /// The ratios that the runs contain.
  static func all(of definitions: [RatioDefinition] = RatioDefinition.all, in runs: BenchRuns) -> [RecordedRatio] {
    definitions.compactMap { ratio in
      ratio.quantity.spread(in: runs).map { RecordedRatio(ratio: ratio, recorded: $0) }
    }
  }

  /// Reads the text of a file that `json` has made.
  /// - Throws: `unreadableRatios`, also for a file without ratios.
  static func all(json: String) throws(BenchReportError) -> [RecordedRatio] {
    guard let ratios = try? JSONDecoder().decode([RecordedRatio].self, from: Data(json.utf8)), !ratios.isEmpty else {
      throw .unreadableRatios
    }
    return ratios
  }

  /// The text of a file of recorded ratios. A changed value changes few lines.
  static func json(_ ratios: [RecordedRatio]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(ratios), as: UTF8.self) + "\n"
  }
}

struct RatioDefinition: Codable, Equatable, Sendable {
  /// The direction of a regression.
  enum Direction: String, Codable, Sendable {
    case higher, lower
  }

  let name: String
  let numerator: FigurePath
  let denominator: FigurePath
  let worse: Direction

  init(_ name: String, _ numerator: FigurePath, over denominator: FigurePath, worse: Direction = .higher) {
    self.name = name
    self.numerator = numerator
    self.denominator = denominator
    self.worse = worse
  }

  var quantity: Quantity { .ratio(numerator, over: denominator) }

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
  static let all =
    [
      RatioDefinition(
        "service CPU per push at 300/s, over pgbench's per insert at 300/s",
        FigurePath("messages-300", "cpu_us_per_push"), over: pacedInsert),
      RatioDefinition(
        "database CPU per push at 300/s, over pgbench's per insert at 300/s",
        FigurePath("messages-300", "database_cpu_us_per_push"), over: pacedInsert),
      RatioDefinition(
        "service CPU per push of a burst, over h2load's per request", FigurePath("burst-10000", "cpu_us_per_push"),
        over: h2loadRequest),
      RatioDefinition(
        "APNs client: CPU per request, over h2load's", FigurePath("apns-client", "cpu_us_per_request"),
        over: h2loadRequest),
    ]
    + ["rows-10m", "rows-1m", "rows-100k"].map { subject in
      RatioDefinition(
        "service CPU per push at 300/s with \(subject) of history, over none",
        FigurePath("messages-300", subject, "cpu_us_per_push"), over: FigurePath("messages-300", "cpu_us_per_push"))
    }

  private static let h2loadRequest = FigurePath("apns-client", "h2load", "cpu_us_per_request")

  private static let pacedInsert = FigurePath("inserts-300", "pgbench", "cpu_us_per_insert")
}
