internal import Glibc
package import Reactors
internal import Synchronization

/// The registry, judges, records and faults that listeners, the control endpoint and tests share.
///
/// Usable from any thread; each call is one short critical section.
package final class SimulatedService: Sendable {
  package let clock: SimulationClock

  private let books: Mutex<SimulationBooks>

  /// A service with an empty registry.
  /// - Parameters:
  ///   - recordsMax: push records kept in full.
  ///   - conduct: the initial conduct of the server.
  package init(
    clock: SimulationClock = SimulationClock(), recordsMax: Int = APNSPushLog.capacityDefault,
    conduct: ServerConduct = ServerConduct()
  ) {
    self.clock = clock
    books = Mutex(SimulationBooks(recordsMax: recordsMax, conduct: conduct))
  }

  package func withRegistry<Result: Sendable>(_ body: (inout SimulationRegistry) throws -> Result) rethrows -> Result {
    try books.withLock { books in try body(&books.registry) }
  }

  package func withLog<Result: Sendable>(_ body: (inout APNSPushLog) throws -> Result) rethrows -> Result {
    try books.withLock { books in try body(&books.log) }
  }

  package func withFaults<Result: Sendable>(_ body: (inout [WaitingFault]) throws -> Result) rethrows -> Result {
    try books.withLock { books in try body(&books.faults) }
  }

  /// One short critical section over everything.
  func withBooks<Result: Sendable>(_ body: (inout SimulationBooks) throws -> Result) rethrows -> Result {
    try books.withLock { books in try body(&books) }
  }

  package var conduct: ServerConduct {
    get { books.withLock { $0.conduct } }
    set { books.withLock { $0.conduct = newValue } }
  }

  /// The faults that happened, oldest first.
  package var metFaults: [FaultRecord] { books.withLock { $0.metFaults.all } }

  func forgetMetFaults() {
    books.withLock { $0.metFaults.removeAll() }
  }

  func record(_ fault: ServerFault, onConnection number: Int) {
    books.withLock { $0.metFaults.append(FaultRecord(fault, connection: number)) }
  }

  package var lint: LintLog { books.withLock { $0.lint } }

  /// Requests that a fault swallowed before the judgement. They are not in the push log.
  package var unprocessed: Int { books.withLock { $0.unprocessed } }

  /// Receives a whole request. It meets the next fault, and unless that swallows it, it is judged and recorded.
  func receive(
    _ request: InspectedRequest, from origin: RequestOrigin, binding: inout ProviderBinding
  ) -> Reception {
    let now = clock.now
    var admitted = binding
    let reception = books.withLock { books in
      let reception = books.receive(request, from: origin, binding: &admitted, now: now)
      books.waiters.tell(books.log.total)
      return reception
    }
    binding = admitted
    return reception
  }

  func markAnswered(_ number: Int) {
    let moment = SimulationClock.wall
    books.withLock { $0.log.markAnswered(number, at: moment) }
  }

  /// Waits until the log's total reaches `count`.
  /// - Returns: false when the limit passed first.
  package func waitForPushes(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.waiters.add(bound, until: count, total: $0.log.total) }
    return await signal.wait(for: limit, on: reactor)
  }
}

/// The result of a request.
struct Reception: Sendable {
  /// Its number in the push log; nil when a fault swallowed it.
  var number: Int?
  var verdict: PushVerdict?
  var fault: ServerFault?
  /// The sum of the delays of server, fault and device, in milliseconds.
  var delayMilliseconds = 0
}

/// The state of a simulated service, guarded by one lock.
struct SimulationBooks {
  var registry = SimulationRegistry()
  var log: APNSPushLog
  var lint = LintLog()
  var activities = ActivityBook()
  var faults: [WaitingFault] = []
  /// Also those of requests that are not in the push log.
  var metFaults = LatestEntries<FaultRecord>(capacity: 10_000)
  var conduct: ServerConduct
  var unprocessed = 0
  var waiters = ArrivalWaiters()

  private var judges = Dictionary(
    uniqueKeysWithValues: SimulatedEnvironment.allCases.map { ($0, RequestJudge(environment: $0)) })

  init(recordsMax: Int, conduct: ServerConduct) {
    self.conduct = conduct
    log = APNSPushLog(capacity: recordsMax)
  }

  mutating func receive(
    _ request: InspectedRequest, from origin: RequestOrigin, binding: inout ProviderBinding, now: WallInstant
  ) -> Reception {
    var reception = Reception(
      fault: faults.next { $0.notBefore <= Reactor.now }?.fault, delayMilliseconds: conduct.delayMilliseconds)
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
    reception.verdict = verdict
    reception.delayMilliseconds += verdict.delayMilliseconds
    let number = log.append(APNSPushRecord(request, from: origin, judged: verdict))
    lint.append(verdict.findings, push: number)
    reception.number = number
    guard verdict.status == 200, verdict.push.pushType == .liveactivity else { return }
    let shown = ActivityPush.Origin(
      push: number, receivedMicroseconds: origin.arrival.microseconds, at: now, priority: verdict.push.priority)
    lint.append(show(request, judged: verdict, as: shown), push: number)
  }

}

/// The clock of the simulated service: the wall clock with an offset, or a standing clock.
package final class SimulationClock: Sendable {
  private let standing: Int64?
  private let offset = Atomic<Int64>(0)

  /// A clock that follows the machine's.
  package init() {
    standing = nil
  }

  /// A clock that moves only by ``advance(milliseconds:)``.
  package init(standingAt moment: WallInstant) {
    standing = moment.microseconds
  }

  package var now: WallInstant {
    WallInstant(microseconds: (standing ?? Self.wall.microseconds) + offset.load(ordering: .relaxed))
  }

  /// Moves the simulated time; negative values move it back.
  package func advance(milliseconds: Int64) {
    offset.add(milliseconds * 1000, ordering: .relaxed)
  }

  /// The machine's wall clock, for latencies. It ignores the simulated time.
  package static var wall: WallInstant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallInstant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

package struct WallInstant: Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
  package var microseconds: Int64

  package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  package init(seconds: Int64) {
    microseconds = seconds * 1_000_000
  }

  /// Whole seconds since 1970, rounded down.
  package var seconds: Int64 { microseconds / 1_000_000 }

  /// Whole milliseconds since 1970, rounded down.
  package var milliseconds: Int64 { microseconds / 1000 }

  package static func < (one: WallInstant, other: WallInstant) -> Bool {
    one.microseconds < other.microseconds
  }
}
