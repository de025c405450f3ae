internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Writes decided events to the database, those of one tick and of a running write in one statement.
///
/// While a write is on its way, and for some milliseconds after it began, what is decided meanwhile waits for the next:
/// batches grow with the load by themselves, and a write for each push would cost more than all the rest of it. What
/// somebody waits for is written at once.
/// A write is tried until the database takes it, however long it is away: nobody else can claim either meanwhile, and a
/// claim that somebody else has taken over is told from ours by its number of attempts. What the database refuses as
/// such is written without what was learnt about device tokens, which functions and constraints of the host decide on;
/// refused even so, it is parked with its reason, so that it is not sent again and again.
final class Recorder: TickEndHandler {
  /// Between two tries of a failed write, doubling.
  private static let shortestWait = Duration.milliseconds(50)
  private static let longestWait = Duration.seconds(1)

  /// How much of what it has recorded a server that crashes may have forgotten: three rounds of PostgreSQL's WAL writer, with
  /// its default of 200 ms, and some more.
  private static let forgettable = Duration.milliseconds(700)
  private static let recentMax = 2 * RecordBatch.eventsMax

  /// From the beginning of a write to that of the next, unless one is urgent. A push whose record a crash forgets is sent
  /// again, and replaces itself on the screen; so this is no longer than APNs takes to answer, in which the same can happen.
  private static let pace = Duration.milliseconds(25)

  private let store: PushDatabase
  private let logger: Logger
  private weak var owner: (any RecorderOwner)?
  private var waiting: [DecidedEvent] = []
  /// What was recorded last, and when; monotonic nanoseconds.
  private var recent: [(at: UInt64, events: [DecidedEvent])] = []
  private var isWriting = false
  private var isTickEndAsked = false
  private var isUrgent = false
  private var lastBegan: UInt64?
  private var timer: TimerToken?
  private var isGivingUp = false
  private var failureLine = MinuteLine()

  /// Whether a write is being tried again because the database was away. What is claimed meanwhile could be what waits
  /// here, once its lease is over.
  private(set) var isRetrying = false

  init(store: PushDatabase, logger: Logger, owner: any RecorderOwner) {
    self.store = store
    self.logger = logger
    self.owner = owner
  }

  /// Ends the tries: what is not written now is claimed again by somebody else.
  func giveUp() {
    isGivingUp = true
  }

  /// - Parameter isUrgent: whether somebody waits for the record.
  func add(_ event: DecidedEvent, isUrgent: Bool = false, on reactor: isolated Reactor) {
    waiting.append(event)
    if isUrgent { self.isUrgent = true }
    guard !isWriting, !isTickEndAsked, timer == nil || isUrgent else { return }
    isTickEndAsked = true
    reactor.callAtTickEnd(self)
  }

  /// Somebody waits for the record of what may be here.
  func hurry(on reactor: isolated Reactor) {
    isUrgent = true
    begin(on: reactor)
  }

  /// The server may have crashed, and forgotten what it had not written to its disk yet. What it has kept does not change.
  /// - Parameter lostAt: when it was gone.
  func repeatRecent(lostAt: UInt64, on reactor: isolated Reactor) {
    let forgotten = recent.filter { $0.at &+ Self.forgettable.clampedNanoseconds >= lostAt }.flatMap(\.events)
    recent.removeAll()
    waiting.insert(
      contentsOf: forgotten.map { decided in
        var again = decided
        if again.purpose == .record { again.purpose = .again }
        return again
      }, at: 0)
    hurry(on: reactor)
  }

  func tickEnded(on reactor: isolated Reactor) {
    isTickEndAsked = false
    begin(on: reactor)
  }

  /// Begins a write, now or when it is time for the next.
  private func begin(on reactor: isolated Reactor) {
    guard !isWriting, !waiting.isEmpty else { return }
    if let wait, timer == nil { timer = reactor.schedule(after: wait, self) }
    guard wait == nil else { return }
    if let timer { reactor.cancel(timer) }
    timer = nil
    isWriting = true
    reactor.start { await self.writeAll(on: reactor) }
  }

  /// How long the next write has time; nil when it is due.
  private var wait: Duration? {
    guard !isUrgent, waiting.count < RecordBatch.eventsMax, let lastBegan else { return nil }
    let (elapsed, pace) = (Reactor.now &- lastBegan, Self.pace.clampedNanoseconds)
    return elapsed < pace ? .nanoseconds(Int64(pace - elapsed)) : nil
  }

  private func writeAll(on reactor: isolated Reactor) async {
    isUrgent = false
    lastBegan = Reactor.now
    if let batch = takeBatch() { await write(batch, on: reactor) }
    isWriting = false
    begin(on: reactor)
  }

  private func write(_ batch: [DecidedEvent], on reactor: isolated Reactor) async {
    var wait = Self.shortestWait
    while !isGivingUp {
      let began = Reactor.now
      do throws(PostgresError) {
        try await store.record(batch, on: reactor)
        isRetrying = false
        remember(batch)
        owner?.recorded(batch, on: reactor)
        return
      } catch {
        if let times = failureLine.note(now: Reactor.now) {
          logger.error(
            "cannot record outcomes",
            metadata: ["events": "\(batch.count)", "times": "\(times)"].merging(error.logged) { $1 })
        }
        if error.blamesStatement, batch.count > 1 { return await writeHalves(of: batch, on: reactor) }
        if error.isRefusal, let known = batch[0].withoutTokenFindings { return await write([known], on: reactor) }
        if error.isRefusal, batch[0].purpose != .record { return }
        if error.isRefusal, await park(batch[0], error, on: reactor) { return }
        isRetrying = !error.blamesStatement
      }
      // A try that waited for a session in vain is made again at once, and so is among the first when there is one.
      let pause = (wait * .random(in: 0.75...1.25)).clampedNanoseconds
      await reactor.sleep(for: .nanoseconds(Int64(pause - min(pause, Reactor.now &- began))))
      wait = min(wait * 2, Self.longestWait)
    }
  }

  private func remember(_ batch: [DecidedEvent]) {
    let now = Reactor.now
    recent.append((now, batch))
    var count = 0
    // The newest first.
    let kept = recent.reversed().prefix { entry in
      count += entry.events.count
      return count <= Self.recentMax && entry.at &+ Self.forgettable.clampedNanoseconds >= now
    }
    if kept.count < recent.count { recent = kept.reversed() }
  }

  /// One event that the database refuses must not keep the others from being recorded.
  private func writeHalves(of batch: [DecidedEvent], on reactor: isolated Reactor) async {
    await write(Array(batch[..<(batch.count / 2)]), on: reactor)
    await write(Array(batch[(batch.count / 2)...]), on: reactor)
  }

  private func park(_ decided: DecidedEvent, _ error: PostgresError, on reactor: isolated Reactor) async -> Bool {
    do throws(PostgresError) {
      try await store.park(decided.event, because: error, on: reactor)
    } catch {
      return false
    }
    logger.error(
      "an event is parked: the database refuses its record",
      metadata: ["subject_id": "\(decided.event.subject.id.lowercased)", "error": "\(error)"])
    owner?.setAside(decided, on: reactor)
    return true
  }

  /// The next batch; what does not go into it stays, in order.
  private func takeBatch() -> [DecidedEvent]? {
    guard !waiting.isEmpty else { return nil }
    if waiting.count == 1 { return [waiting.removeLast()] }
    var batch = RecordBatch()
    waiting.removeAll { batch.take($0) }
    return batch.events
  }
}

extension Recorder: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    begin(on: reactor)
  }
}

/// Told what has left the recorder.
protocol RecorderOwner: AnyObject {
  /// These events were written.
  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor)

  /// This one was parked.
  func setAside(_ decided: DecidedEvent, on reactor: isolated Reactor)
}
