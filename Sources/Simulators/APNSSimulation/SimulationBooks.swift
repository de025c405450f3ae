internal import Reactors

/// Everything a simulated service remembers; one lock guards it all.
struct SimulationBooks {
  var registry = SimulationRegistry()
  var log: PushLog
  var lint = LintLog()
  var faults = FaultScript()
  var metFaults = FaultLog()
  var conduct: ServerConduct
  var unprocessed = 0
  var waiters: [Int: (total: Int, act: @Sendable () -> Void)] = [:]

  private var judges: [SimulatedEnvironment: RequestJudge]
  private var lastTicket = 0

  init(seed: UInt64, recordsMax: Int, conduct: ServerConduct) {
    self.conduct = conduct
    log = PushLog(capacity: recordsMax)
    judges = [:]
    for (index, environment) in SimulatedEnvironment.allCases.enumerated() {
      judges[environment] = RequestJudge(environment: environment, seed: seed &+ UInt64(index))
    }
  }

  mutating func receive(
    _ request: InspectedRequest, from origin: RequestOrigin, binding: inout ProviderBinding, now: WallInstant
  ) -> Reception {
    var reception = Reception(fault: faults.next(now: Reactor.now), delayMilliseconds: conduct.delayMilliseconds)
    if reception.fault?.isAfterProcessing(ofStream: origin.stream) ?? true {
      judge(request, from: origin, &reception, binding: &binding, now: now)
    } else {
      unprocessed += 1
    }
    if let fault = reception.fault {
      metFaults.append(FaultRecord(fault, request, from: origin, push: reception.number))
    }
    return reception
  }

  private mutating func judge(
    _ request: InspectedRequest, from origin: RequestOrigin, _ reception: inout Reception,
    binding: inout ProviderBinding, now: WallInstant
  ) {
    var answer: ScriptedAnswer?
    switch reception.fault {
    case .answer(let scripted): answer = scripted
    case .delay(let milliseconds): reception.delayMilliseconds += milliseconds
    default: break
    }
    let verdict = judges[origin.environment]?.judge(
      request, binding: &binding, registry: &registry, now: now, answering: answer)
    guard let verdict else { return }
    let number = log.append(PushRecord(request, from: origin, judged: verdict))
    lint.append(verdict.findings, push: number)
    reception.number = number
    reception.verdict = verdict
    reception.delayMilliseconds += verdict.delayMilliseconds
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
