extension RatioDefinition {
  /// The ratios that are worth recording: what they compare is disturbed by the same things at the same time.
  ///
  /// A service that is mostly asleep is set beside a client of the database that is as much asleep (pgbench at 300
  /// inserts a second), one at work beside one at work (h2load): what a wake-up costs differs between machines in
  /// another way than what a request costs.
  public static let all = [
    RatioDefinition(
      "service CPU per push at 300/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(300), "cpu_us_per_push"),
      over: FigurePath(BenchScenario.pacedInserts, BenchSubject.pgbench, "cpu_us_per_insert"), worse: .higher),
    RatioDefinition(
      "service CPU per push at 1000/s, over pgbench's per insert at 300/s",
      ours(BenchScenario.notify(1000), "cpu_us_per_push"),
      over: FigurePath(BenchScenario.pacedInserts, BenchSubject.pgbench, "cpu_us_per_insert"), worse: .higher),
    RatioDefinition(
      "service CPU per push of a burst, over h2load's per request", ours(BenchScenario.burst, "cpu_us_per_push"),
      over: FigurePath(BenchScenario.client, BenchSubject.h2load, "cpu_us_per_request"), worse: .higher),
    RatioDefinition(
      "service CPU per push at the sustained rate, over h2load's per request",
      ours(BenchScenario.sustained, "cpu_us_per_push"),
      over: FigurePath(BenchScenario.client, BenchSubject.h2load, "cpu_us_per_request"), worse: .higher),
    RatioDefinition(
      "sustained messages/s, over pgbench's inserts/s", ours(BenchScenario.sustained, "messages_per_second"),
      over: FigurePath(BenchScenario.inserts, BenchSubject.pgbench, "inserts_per_second"), worse: .lower),
    beside(BenchSubject.h2load, BenchScenario.client, "cpu_us_per_request", worse: .higher),
    beside(BenchSubject.h2load, BenchScenario.client, "requests_per_second", worse: .lower),
    beside(BenchSubject.nginx, BenchScenario.server, "cpu_us_per_request", worse: .higher),
    beside(BenchSubject.nginx, BenchScenario.server, "requests_per_second", worse: .lower),
    growth(BenchSubject.tenMillionRows, "accepted_p50_ms"),
    growth(BenchSubject.tenMillionRows, "cpu_us_per_push"),
    growth(BenchSubject.hundredThousandRows, "accepted_p50_ms"),
    growth(BenchSubject.hundredThousandRows, "cpu_us_per_push"),
  ]

  private static func ours(_ scenario: String, _ figure: String) -> FigurePath {
    FigurePath(scenario, BenchSubject.tacet, figure)
  }

  private static func beside(
    _ reference: String, _ scenario: String, _ figure: String, worse: Direction
  ) -> RatioDefinition {
    RatioDefinition(
      "\(scenario): \(figure), over \(reference)'s", ours(scenario, figure),
      over: FigurePath(scenario, reference, figure), worse: worse)
  }

  private static func growth(_ subject: String, _ figure: String) -> RatioDefinition {
    let scenario = BenchScenario.notify(300)
    return RatioDefinition(
      "\(scenario): \(figure) with \(subject) of history, over none", FigurePath(scenario, subject, figure),
      over: ours(scenario, figure), worse: .higher)
  }
}
