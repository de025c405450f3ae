internal import Reactors
internal import Synchronization

/// What the sessions of a process have learnt about the hosts that they may connect to, for a while.
///
/// Shared by every copy of a ``PostgresConfiguration``, so that one session's loss spares all others the same wait. Holds
/// an entry for each host of one connection string.
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

  func note(_ finding: Finding, of target: ConnectionTarget, now: UInt64) {
    entries.withLock { $0[target] = Entry(finding: finding, at: now, askedAt: $0[target]?.askedAt) }
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
