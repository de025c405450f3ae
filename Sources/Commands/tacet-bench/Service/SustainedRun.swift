import Reactors

/// Scenario `sustained`: the highest rate at which 99 of 100 pushes are accepted within a tenth of a second of their
/// commit, and all that is offered gets through.
struct SustainedRun {
  private static let acceptedMillisecondsMax = 100.0
  private static let shareMin = 0.98
  private static let warmUpSeconds = 1.0

  let bench: ServiceBench
  let subject: SubjectBench
  /// The first rate that is tried.
  let from: Double

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    var search = RateSearch(from: from)
    var best: [String: Double]?
    while let rate = search.next {
      let figures = try await trial(at: rate, on: reactor)
      let isKept = Self.isKept(figures)
      Progress.say("  \(Int(rate))/s: \(isKept ? "kept" : "not kept"), p99 \(figures["accepted_p99_ms"] ?? 0) ms")
      if isKept { best = figures }
      search.note(rate, isKept: isKept)
    }
    guard var best else { throw BenchError("no rate was kept up with") }
    best["messages_per_second"] = best["offered_per_second"]
    return best
  }

  private func trial(at rate: Double, on reactor: isolated Reactor) async throws -> [String: Double] {
    let trial = MessageTrial(
      bench: bench, subject: subject, way: .notify, perSecond: rate, warmUpSeconds: Self.warmUpSeconds,
      seconds: bench.seconds / 2)
    return try await bench.withService(of: subject, on: reactor) { try await trial.run(beside: $0, on: reactor) }
  }

  private static func isKept(_ figures: [String: Double]) -> Bool {
    guard let latency = figures["accepted_p99_ms"], let achieved = figures["achieved_per_second"],
      let offered = figures["offered_per_second"]
    else { return false }
    return latency < acceptedMillisecondsMax && achieved >= shareMin * offered
  }
}
