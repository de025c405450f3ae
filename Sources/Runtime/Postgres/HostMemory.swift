internal import Reactors
internal import Synchronization

/// What the sessions of a process have learnt about the hosts that they may connect to, for a while.
///
/// Shared by every copy of a ``PostgresConfiguration``, so that one session's loss spares all others the same wait. Holds
/// an entry for each host of one connection string, and one for each session that is kept open.
final class HostMemory: Sendable {
  /// What came of asking a host, worse last.
  enum Finding: Int, Comparable {
    case open
    /// It answers, and takes no session such as ours.
    case refuses
    /// Another was faster.
    case slow
    /// It says nothing.
    case silent

    static func < (one: Finding, other: Finding) -> Bool { one.rawValue < other.rawValue }
  }

  /// How long a finding is believed. A host that is tried again in its old place costs a quarter of a second.
  static let life = Duration.seconds(30)

  private struct Entry {
    var finding: Finding
    var at: UInt64
    var askedAt: UInt64?
  }

  private let entries = Mutex<[ConnectionTarget: Entry]>([:])
  private let sessions = Mutex(Sessions())

  private struct Sessions {
    var all: [ObjectIdentifier: ReactorBound<ReconnectingConnection>] = [:]
    /// Hosts that a session left because of their silence, when there was no other to go to.
    var left: Set<ConnectionTarget> = []
  }

  func note(_ finding: Finding, of target: ConnectionTarget, now: UInt64) {
    entries.withLock { $0[target] = Entry(finding: finding, at: now, askedAt: $0[target]?.askedAt) }
    if finding == .open { leaveSilentHosts(for: target) }
  }

  /// What is known of a host since a moment; nil when nothing is.
  func finding(on target: ConnectionTarget, since: UInt64) -> Finding? {
    entries.withLock { entries in entries[target].flatMap { $0.at >= since ? $0.finding : nil } }
  }

  /// The hosts in the order in which to try them: as listed, those that refuse or are silent behind the others.
  func order(_ targets: [ConnectionTarget], now: UInt64) -> [ConnectionTarget] {
    let oldest = now - min(now, Self.life.clampedNanoseconds)
    let findings = targets.map { finding(on: $0, since: oldest) ?? .open }
    let order = targets.indices.sorted { (findings[$0], $0) < (findings[$1], $1) }
    return order.map { targets[$0] }
  }

  /// Whether the caller should ask a host for a sign of life: one session of the process in so long a time.
  func mayAsk(_ target: ConnectionTarget, each interval: Duration, now: UInt64) -> Bool {
    entries.withLock { entries in
      var entry = entries[target] ?? Entry(finding: .open, at: 0, askedAt: nil)
      if let askedAt = entry.askedAt, now &- askedAt < interval.clampedNanoseconds { return false }
      entry.askedAt = now
      entries[target] = entry
      return true
    }
  }
}

// Where one session has found its host silent and another host open, all others leave that host too: an idle one would find
// it out at its next statement, and a listening one seconds later.
extension HostMemory {
  /// A session that is kept open, wherever it leads.
  func add(_ session: ReconnectingConnection, on reactor: isolated Reactor) {
    let bound = ReactorBound(session, on: reactor)
    sessions.withLock { $0.all[ObjectIdentifier(session)] = bound }
  }

  func remove(_ session: ReconnectingConnection) {
    sessions.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(session)) }
  }

  /// Ends all sessions with a host, because another one takes them.
  func leave(_ target: ConnectionTarget) {
    for session in sessions.withLock({ $0.all }).values { session.submit { $0.leave(target, on: $1) } }
  }

  /// The same as soon as another host takes a session.
  func leaveLater(_ target: ConnectionTarget) {
    sessions.withLock { _ = $0.left.insert(target) }
  }

  private func leaveSilentHosts(for target: ConnectionTarget) {
    let left = sessions.withLock { sessions in
      defer { sessions.left = [] }
      return sessions.left
    }
    for other in left where other != target { leave(other) }
  }
}
