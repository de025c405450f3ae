internal import FoundationEssentials
internal import PushStore

/// Decided events that one statement may write: no subject and recipient twice, because it cannot touch a row twice.
///
/// They meet only when a lease ran out and the same process claimed again, or when a due delivery catches up with its
/// event.
struct RecordBatch {
  /// Events in one statement. At 1000 the statement's arrays are some 200 KiB.
  static let eventsMax = 1000

  private struct Row: Hashable {
    let subject: PushSubject
    let userID: UUID
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
