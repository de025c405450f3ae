internal import Reactors
internal import Synchronization

/// Recent findings about hosts, shared by the sessions of a process.
///
/// All copies of a ``PostgresConfiguration`` share it, so that one session's loss spares the others the same wait. Holds an entry
/// for each host of a connection string, and one for each session that is kept open.
final class HostMemory: Sendable {
  /// The result of connecting to a host, worse last.
  enum Finding: Int, Comparable {
    case open
    /// The host answers, but refuses the session.
    case refuses
    /// Another host was faster.
    case slow
    case silent

    static func < (one: Finding, other: Finding) -> Bool { one.rawValue < other.rawValue }
  }

  /// How long a finding is valid. Trying a silent host first again costs a quarter of a second.
  static let life = Duration.seconds(30)

  private struct Entry {
    var finding: Finding
    var at: UInt64
    var askedAt: UInt64?
  }

  /// How long a refused write says that a host takes none. A service writes each ten seconds at least.
  private static let refusedWriteLife = Duration.seconds(15)

  private let entries = Mutex<[ConnectionTarget: Entry]>([:])
  private let refusedWrites = Mutex<[ConnectionTarget: UInt64]>([:])
  private let sessions = Mutex(Sessions())

  private struct Sessions {
    var all: [ObjectIdentifier: ReactorBound<ReconnectingConnection>] = [:]
    /// Silent hosts that a session left without another host to go to.
    var left: Set<ConnectionTarget> = []
  }

  func record(_ finding: Finding, of target: ConnectionTarget, now: UInt64) {
    entries.withLock { $0[target] = Entry(finding: finding, at: now, askedAt: $0[target]?.askedAt) }
    if finding == .open { leaveSilentHosts(for: target) }
  }

  /// A server with open sessions has refused a write.
  func recordRefusedWrite(to target: ConnectionTarget, now: UInt64) {
    refusedWrites.withLock { $0[target] = now }
    record(.refuses, of: target, now: now)
  }

  func refusesWrites(_ target: ConnectionTarget, now: UInt64) -> Bool {
    refusedWrites.withLock { $0[target] }.map { now &- $0 < Self.refusedWriteLife.clampedNanoseconds } ?? false
  }

  func finding(on target: ConnectionTarget, since: UInt64) -> Finding? {
    entries.withLock { entries in entries[target].flatMap { $0.at >= since ? $0.finding : nil } }
  }

  /// The hosts in the order to try them: as listed, but worse findings last.
  func order(_ targets: [ConnectionTarget], now: UInt64) -> [ConnectionTarget] {
    let oldest = now - min(now, Self.life.clampedNanoseconds)
    let findings = targets.map { finding(on: $0, since: oldest) ?? .open }
    let order = targets.indices.sorted { (findings[$0], $0) < (findings[$1], $1) }
    return order.map { targets[$0] }
  }

  /// Whether the caller should check that a host is alive. One session of the process may, once per interval.
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

// When one session finds its host silent and another host open, all sessions leave the silent host. An idle session would
// otherwise find out at its next statement, and a listening session seconds later.
extension HostMemory {
  /// Registers a session that is kept open.
  func add(_ session: ReconnectingConnection, on reactor: isolated Reactor) {
    let bound = ReactorBound(session, on: reactor)
    sessions.withLock { $0.all[ObjectIdentifier(session)] = bound }
  }

  func remove(_ session: ReconnectingConnection) {
    sessions.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(session)) }
  }

  /// Ends all sessions with a host, because another host accepts sessions.
  func leave(_ target: ConnectionTarget) {
    for session in sessions.withLock({ $0.all }).values { session.submit { $0.leave(target, on: $1) } }
  }

  /// Ends all sessions with a host as soon as another host accepts one.
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
