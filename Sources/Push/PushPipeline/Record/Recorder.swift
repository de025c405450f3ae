internal import DequeModule
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Writes decided events to the database, those of one tick and of a running write in one statement.
///
/// During a write, and for some milliseconds after it began, further events wait for the next: batches grow with the load, and
/// a write for each push would cost more than the rest of the push. A write that a caller waits for begins at once.
///
/// A write is retried until the database takes it, however long it is away: other processes cannot claim either meanwhile, and
/// the number of attempts tells another process's claim from this one's.
final class Recorder: TickEndHandler {
  /// Between two tries of a failed write, doubling.
  private static let shortestWait = Duration.milliseconds(50)
  private static let longestWait = Duration.seconds(1)

  /// From the beginning of a write to that of the next, unless one is urgent. A push whose record a crash loses is sent again,
  /// and replaces itself on the screen. So this is at most the time that APNs takes to answer, in which the same can happen.
  private static let pace = Duration.milliseconds(25)

  let store: PushDatabase
  let logger: Logger
  private(set) weak var owner: (any RecorderOwner)?
  private var waiting: [DecidedEvent] = []
  private var recent = RecentRecords()
  private var isWriting = false
  private var isTickEndAsked = false
  private var isUrgent = false
  private var lastBegan: UInt64?
  private var timer: TimerToken?
  private var isGivingUp = false
  private var failureLine = MinuteLine()

  /// Whether a write is being retried because the database was away. A claim meanwhile could bring events that wait here, once
  /// their leases are over.
  private(set) var isRetrying = false

  init(store: PushDatabase, logger: Logger, owner: any RecorderOwner) {
    self.store = store
    self.logger = logger
    self.owner = owner
  }

  /// Ends the retries: another process claims the unwritten events again.
  func giveUp() {
    isGivingUp = true
  }

  /// Takes a decided event.
  /// - Parameter isUrgent: whether a caller waits for the record.
  func add(_ event: DecidedEvent, isUrgent: Bool = false, on reactor: isolated Reactor) {
    waiting.append(event)
    if isUrgent { self.isUrgent = true }
    guard !isWriting, !isTickEndAsked, timer == nil || isUrgent else { return }
    isTickEndAsked = true
    reactor.callAtTickEnd(self)
  }

  /// Writes at once, because a caller waits for a record.
  func hurry(on reactor: isolated Reactor) {
    isUrgent = true
    begin(on: reactor)
  }

  /// Records again what a crashed server may have lost. Records that it kept do not change.
  /// - Parameter lostAt: when the connection to the server was lost.
  func repeatRecent(lostAt: UInt64, on reactor: isolated Reactor) {
    waiting.insert(contentsOf: recent.takeForgotten(lostAt: lostAt), at: 0)
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
    reactor.cancel(&timer)
    isWriting = true
    reactor.start { await self.writeAll(on: reactor) }
  }

  /// The wait before the next write; nil when it is due.
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

  func write(_ batch: [DecidedEvent], on reactor: isolated Reactor) async {
    var wait = Self.shortestWait
    while !isGivingUp {
      let began = Reactor.now
      do throws(PostgresError) {
        try await store.record(batch, on: reactor)
        isRetrying = false
        recent.add(batch)
        owner?.recorded(batch, on: reactor)
        return
      } catch {
        if let times = failureLine.note(now: Reactor.now) {
          logger.error(
            "cannot record outcomes",
            metadata: ["events": "\(batch.count)", "times": "\(times)"].merging(error.logged) { $1 })
        }
        if await settle(batch, refusedWith: error, on: reactor) { return }
        isRetrying = !error.blamesStatement
      }
      // A try that waited for a session in vain is repeated at once, so that it is among the first when a session is free.
      let pause = (wait * .random(in: 0.75...1.25)).clampedNanoseconds
      await reactor.sleep(for: .nanoseconds(Int64(pause - min(pause, Reactor.now &- began))))
      wait = min(wait * 2, Self.longestWait)
    }
  }

  /// The next batch; the rest stays, in order.
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

/// Hears of events that have left the recorder.
protocol RecorderOwner: AnyObject {
  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor)

  /// This one was parked.
  func setAside(_ decided: DecidedEvent, on reactor: isolated Reactor)
}

// Events that the database refuses to record.
extension Recorder {
  /// Does what helps against a refusal: writes the events of a batch apart, so that the others are recorded. One that is
  /// refused alone is written without its findings about device tokens, which functions and constraints of the host check.
  /// Refused again, it is parked with its reason, so that it is not sent again and again.
  /// - Returns: whether nothing of the batch is left to write.
  func settle(_ batch: [DecidedEvent], refusedWith error: PostgresError, on reactor: isolated Reactor) async -> Bool {
    if error.blamesStatement, batch.count > 1 {
      await write(Array(batch[..<(batch.count / 2)]), on: reactor)
      await write(Array(batch[(batch.count / 2)...]), on: reactor)
      return true
    }
    guard error.isRefusal else { return false }
    if let known = batch[0].withoutFindings {
      await write([known], on: reactor)
      return true
    }
    return batch[0].purpose == .record ? await park(batch[0], error, on: reactor) : true
  }

  private func park(_ decided: DecidedEvent, _ error: PostgresError, on reactor: isolated Reactor) async -> Bool {
    do throws(PostgresError) {
      try await store.park(decided.event, because: error, on: reactor)
    } catch {
      return false
    }
    logger.error(
      "an event is parked: the database refuses its record",
      metadata: ["subject_id": "\(decided.event.subject.id.text)", "error": "\(error)"])
    owner?.setAside(decided, on: reactor)
    return true
  }
}

/// Decided events that one statement may write: no subject and recipient twice, because it cannot touch a row twice.
///
/// Such pairs meet only when a lease ran out and the same process claimed again, or when a due delivery catches up with its
/// event.
struct RecordBatch {
  /// Events in one statement. At 1000 the statement's arrays are some 200 KiB.
  static let eventsMax = 1000

  private struct Row: Hashable {
    let subject: PushSubject
    let userID: HostID
  }

  private(set) var events: [DecidedEvent] = []
  private var inboxSubjects: Set<PushSubject> = []
  private var rows: Set<Row> = []

  /// Takes an event in, unless the batch is full or holds a row of it already.
  mutating func take(_ decided: DecidedEvent) -> Bool {
    let subject = decided.event.subject
    let isInbox = decided.event.origin == .inbox && decided.purpose != .part
    let rows = decided.outcomes.map { Row(subject: subject, userID: $0.userID) }
    guard events.count < Self.eventsMax, !(isInbox && inboxSubjects.contains(subject)),
      self.rows.isDisjoint(with: rows)
    else { return false }
    if isInbox { inboxSubjects.insert(subject) }
    self.rows.formUnion(rows)
    events.append(decided)
    return true
  }
}

/// The latest records: holds included, which a claim would find only after the lease. The server may have forgotten them when
/// it returns after a crash.
struct RecentRecords {
  /// How old a record is that a crash of the server can lose: three rounds of PostgreSQL's WAL writer, by default 200 ms each,
  /// and some more.
  private static let forgettable = Duration.milliseconds(700).clampedNanoseconds
  private static let eventsMax = 2 * RecordBatch.eventsMax

  /// The oldest first, with their times in monotonic nanoseconds.
  private var records: Deque<(at: UInt64, events: [DecidedEvent])> = []
  private var count = 0

  /// Keeps a batch that was recorded now, and drops what is too old or too much.
  mutating func add(_ batch: [DecidedEvent]) {
    let now = Reactor.now
    records.append((now, batch))
    count += batch.count
    while let oldest = records.first, count > Self.eventsMax || oldest.at &+ Self.forgettable < now {
      count -= oldest.events.count
      records.removeFirst()
    }
  }

  /// Takes out what a server may have lost that crashed at this moment, to be recorded again; forgets the rest.
  mutating func takeForgotten(lostAt: UInt64) -> [DecidedEvent] {
    defer { (records, count) = ([], 0) }
    return records.filter { $0.at &+ Self.forgettable >= lostAt }.flatMap(\.events).map { decided in
      var again = decided
      if again.purpose == .record { again.purpose = .again }
      return again
    }
  }
}
