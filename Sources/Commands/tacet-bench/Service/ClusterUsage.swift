import Glibc

/// What the processes of a database server have used of the processors until a moment.
struct ClusterUsage: Sendable, Equatable {
  /// By process, in nanoseconds; the postmaster among them.
  private let running: [pid_t: UInt64]
  /// Of those that have ended, in nanoseconds.
  private let ended: UInt64

  init(running: [pid_t: UInt64], ended: UInt64) {
    self.running = running
    self.ended = ended
  }

  /// Nil when they cannot be looked at, such as those of a server on another machine.
  init?(of postmaster: pid_t) {
    guard let stat = textOfFile("/proc/\(postmaster)/stat"),
      let children = textOfFile("/proc/\(postmaster)/task/\(postmaster)/children"),
      let ended = ProcessorTime.ofEndedChildren(stat: stat, ticksPerSecond: Int(sysconf(Int32(_SC_CLK_TCK))))
    else { return nil }
    let processes = children.split(separator: " ").compactMap { pid_t($0) } + [postmaster]
    let times = processes.compactMap { process in ProcessorTime.nanoseconds(of: process).map { (process, $0) } }
    self.init(running: Dictionary(times) { first, _ in first }, ended: ended)
  }

  /// What has been used since an earlier moment, in nanoseconds. What a process had used by then is not counted again
  /// when it has ended since.
  func since(_ earlier: ClusterUsage) -> UInt64 {
    let gone = earlier.running.filter { running[$0.key] == nil }.values.reduce(0, +)
    let grown = running.reduce(0 as UInt64) { sum, process in
      sum + process.value - min(process.value, earlier.running[process.key] ?? 0)
    }
    let ended = ended - min(ended, earlier.ended)
    return grown + ended - min(ended, gone)
  }

  /// The postmaster behind a session, by its backend's parent; nil when the backend is none of this machine's.
  static func postmaster(ofBackend backend: pid_t) -> pid_t? {
    guard let facts = ProcessFacts(of: backend), isPostgres(backend), isPostgres(facts.parent) else { return nil }
    return facts.parent
  }

  private static func isPostgres(_ process: pid_t) -> Bool {
    textOfFile("/proc/\(process)/comm").map { $0.hasPrefix("postgres") } ?? false
  }
}
