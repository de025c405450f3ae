internal import FoundationEssentials
internal import PushStore

extension BenchFigures {
  /// One JSON object. Times are microseconds; what was not measured is left out.
  public func json(_ plan: BenchPlan) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(Document(self, plan)) else {
      preconditionFailure("strings and numbers cannot be encoded")
    }
    return Array(data)
  }
}

/// Named as the keys are.
private struct Document: Encodable {
  struct Function: Encodable {
    let name: String
    let times: Distribution?
    let worst: String?
  }

  let role: String
  let owns_schema: Bool
  let messages_from: String
  let messages: Int
  let measured: Int
  let gone: Int
  let round_trip: Distribution?
  let functions: [Function]
  let recipients: Distribution?
  let targets: Distribution?
  let read: Distribution?
  let concurrency: Int
  let read_together: Distribution?
  let reads_per_second: Int
  let estimated_percent: Double?
  let estimated_rate: Int
  let findings: [String]
  let exit_code: Int32

  init(_ figures: BenchFigures, _ plan: BenchPlan) {
    (role, owns_schema) = (figures.server.role, figures.server.ownsSchema)
    messages_from = figures.source.words
    (messages, measured, gone) = (figures.messages, figures.measured, figures.gone)
    round_trip = figures.roundTrip
    functions = figures.calls.map { Function(name: $0.function.rawValue, times: $0.times, worst: $0.worst) }
    (recipients, targets) = (figures.recipients, figures.targets)
    (read, read_together) = (figures.alone, figures.together)
    (concurrency, reads_per_second) = (figures.concurrency, Int(figures.readsPerSecond))
    estimated_percent = figures.share(ofRate: plan.rate)
    estimated_rate = plan.rate
    findings = figures.findings(limitMicroseconds: plan.limitMicroseconds)
    exit_code = figures.exitCode(limitMicroseconds: plan.limitMicroseconds)
  }
}
