extension RatioDefinition {
  /// The ratios that are worth checking: processor time over that of something else that was disturbed by the same things.
  ///
  /// A service that is mostly asleep is set beside a client of the database that is as much asleep (pgbench at 300
  /// inserts a second), one at work beside one at work (h2load): what a wake-up costs differs between machines in
  /// another way than what a request costs. Of three quick measurements on a machine with twice as much to do as it has
  /// processors, these medians lay within 18 % of each other, those beside nginx within 50 %. Rates and latencies beside their
  /// references lay apart by a factor of two to five, so that none of them is here; only how a fan-out grows is.
  public static let all = [
    RatioDefinition(
      "service CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(300), "cpu_us_per_push"), over: pacedInsert, worse: .higher),
    RatioDefinition(
      "database CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(300), "database_cpu_us_per_push"), over: pacedInsert, worse: .higher),
    RatioDefinition(
      "service CPU per push of a burst, over h2load's per request", ours(BenchScenario.burst, "cpu_us_per_push"),
      over: FigurePath(BenchScenario.client, BenchSubject.h2load, "cpu_us_per_request"), worse: .higher),
    RatioDefinition(
      "time of a fan-out to 1000, over one to 100", ours(BenchScenario.fanout(1000), "complete_p50_ms"),
      over: ours(BenchScenario.fanout(100), "complete_p50_ms"), worse: .higher),
    beside(BenchSubject.h2load, BenchScenario.client),
    beside(BenchSubject.nginx, BenchScenario.server),
    growth(BenchSubject.tenMillionRows),
    growth(BenchSubject.millionRows),
    growth(BenchSubject.hundredThousandRows),
  ]

  private static let pacedInsert = FigurePath(
    BenchScenario.pacedInserts, BenchSubject.pgbench, "cpu_us_per_insert")

  private static func ours(_ scenario: String, _ figure: String) -> FigurePath {
    FigurePath(scenario, BenchSubject.tacet, figure)
  }

  private static func beside(_ reference: String, _ scenario: String) -> RatioDefinition {
    RatioDefinition(
      "\(scenario): CPU per request, over \(reference)'s", ours(scenario, "cpu_us_per_request"),
      over: FigurePath(scenario, reference, "cpu_us_per_request"), worse: .higher)
  }

  private static func growth(_ subject: String) -> RatioDefinition {
    let scenario = BenchScenario.notify(300)
    return RatioDefinition(
      "service CPU per push at 300/s with \(subject) of history, over none",
      FigurePath(scenario, subject, "cpu_us_per_push"), over: ours(scenario, "cpu_us_per_push"), worse: .higher)
  }
}
