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
