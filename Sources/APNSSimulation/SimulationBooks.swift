/// Everything a simulated service remembers; one lock guards it all.
struct SimulationBooks {
  var registry = SimulationRegistry()
  var log: PushLog
  var lint = LintLog()
  var faults = FaultScript()
  var unprocessed = 0
  var waiters: [Int: (total: Int, act: @Sendable () -> Void)] = [:]

  private var judges: [SimulatedEnvironment: RequestJudge]
  private var lastTicket = 0

  init(seed: UInt64, recordsMax: Int) {
    log = PushLog(capacity: recordsMax)
    judges = [:]
    for (index, environment) in SimulatedEnvironment.allCases.enumerated() {
      judges[environment] = RequestJudge(environment: environment, seed: seed &+ UInt64(index))
    }
  }

  mutating func receive(
    _ request: InspectedRequest, from origin: RequestOrigin, binding: inout ProviderBinding, now: WallInstant
  ) -> Reception {
    let fault = faults.next()
    if let fault, !fault.isAfterProcessing(ofStream: origin.stream) {
      unprocessed += 1
      return Reception(fault: fault)
    }
    guard
      let verdict = judges[origin.environment]?.judge(request, binding: &binding, registry: &registry, now: now)
    else { return Reception(fault: fault) }
    let number = log.append(PushRecord(request, from: origin, judged: verdict))
    lint.append(verdict.findings, push: number)
    return Reception(number: number, verdict: verdict, fault: fault)
  }

  /// - Returns: nil when the total is reached already.
  mutating func addWaiter(_ total: Int, _ act: @escaping @Sendable () -> Void) -> Int? {
    guard log.total < total else { return nil }
    lastTicket += 1
    waiters[lastTicket] = (total, act)
    return lastTicket
  }

  mutating func takeDueWaiters() -> [@Sendable () -> Void] {
    guard !waiters.isEmpty else { return [] }
    let due = waiters.filter { $0.value.total <= log.total }
    for ticket in due.keys { waiters[ticket] = nil }
    return due.values.map(\.act)
  }
}
