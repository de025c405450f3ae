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
