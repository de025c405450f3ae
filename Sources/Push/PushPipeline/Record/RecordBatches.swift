internal import DequeModule
internal import PushRules
internal import PushStore
internal import Reactors

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
