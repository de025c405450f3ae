import FoundationEssentials
import Glibc

/// The processor time of the service and the database server up to a moment, in nanoseconds.
struct ServiceUsage: Sendable, Equatable {
  let service: UInt64
  /// Nil when the server's processes are not accessible.
  let cluster: ClusterUsage?

  init(of service: pid_t, postmaster: pid_t?) {
    self.service = ProcessorTime.nanoseconds(of: service) ?? 0
    cluster = postmaster.flatMap { ClusterUsage(of: $0) }
  }

  /// The processor time since an earlier moment per push, decision or other unit.
  func figures(since earlier: ServiceUsage, per noun: String, count: Int) -> [String: Double] {
    guard count > 0 else { return [:] }
    var figures = ["cpu_us_per_\(noun)": Double(service - min(service, earlier.service)) / 1e3 / Double(count)]
    if let cluster, let before = earlier.cluster {
      figures["database_cpu_us_per_\(noun)"] = Double(cluster.since(before)) / 1e3 / Double(count)
    }
    return figures
  }
}

/// The processor time of a database server's processes up to a moment.
struct ClusterUsage: Sendable, Equatable {
  /// By process, in nanoseconds, including the postmaster.
  private let running: [pid_t: UInt64]
  /// Of ended processes, in nanoseconds.
  private let ended: UInt64

  init(running: [pid_t: UInt64], ended: UInt64) {
    self.running = running
    self.ended = ended
  }

  /// Nil when the processes are not accessible, such as those of a server on another machine.
  init?(of postmaster: pid_t) {
    guard let stat = textOfFile("/proc/\(postmaster)/stat"),
      let children = textOfFile("/proc/\(postmaster)/task/\(postmaster)/children"),
      let ended = ProcessorTime.ofEndedChildren(stat: stat, ticksPerSecond: Int(sysconf(Int32(_SC_CLK_TCK))))
    else { return nil }
    let processes = children.split(separator: " ").compactMap { pid_t($0) } + [postmaster]
    let times = processes.compactMap { process in ProcessorTime.nanoseconds(of: process).map { (process, $0) } }
    self.init(running: Dictionary(times) { first, _ in first }, ended: ended)
  }

  /// The processor time since an earlier moment, in nanoseconds. The earlier time of a process that has ended since is
  /// subtracted.
  func since(_ earlier: ClusterUsage) -> UInt64 {
    let gone = earlier.running.filter { running[$0.key] == nil }.values.reduce(0, +)
    let grown = running.reduce(0 as UInt64) { sum, process in
      sum + process.value - min(process.value, earlier.running[process.key] ?? 0)
    }
    let ended = ended - min(ended, earlier.ended)
    return grown + ended - min(ended, gone)
  }

  /// The postmaster of a session, the parent of its backend; nil when the backend is on another machine.
  static func postmaster(ofBackend backend: pid_t) -> pid_t? {
    guard let facts = ProcessFacts(of: backend), isPostgres(backend), isPostgres(facts.parent) else { return nil }
    return facts.parent
  }

  private static func isPostgres(_ process: pid_t) -> Bool {
    textOfFile("/proc/\(process)/comm").map { $0.hasPrefix("postgres") } ?? false
  }
}

/// Processor time of processes, in user space and in the kernel.
enum ProcessorTime {
  /// The time of all threads of a process, including ended ones, in nanoseconds; nil without such a process.
  ///
  /// It comes from the process's clock, because `utime` and `stime` in `/proc` have hundredths of a second.
  static func nanoseconds(of process: pid_t) -> UInt64? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The time of a process's ended children, in nanoseconds, from the text of `/proc/PID/stat`: `cutime` and `cstime`,
  /// its 16th and 17th field. The second field is a name in parentheses with any characters.
  /// - Parameter ticksPerSecond: `sysconf(_SC_CLK_TCK)`.
  static func ofEndedChildren(stat: String, ticksPerSecond: Int) -> UInt64? {
    guard let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 14, let user = UInt64(fields[13]), let system = UInt64(fields[14]) else { return nil }
    return (user + system) * 1_000_000_000 / UInt64(ticksPerSecond)
  }
}

/// Facts from `/proc/PID/status`. Source: proc(5).
struct ProcessFacts: Sendable, Equatable {
  var parent: pid_t = 0
  var threads = 0
  /// `VmRSS`.
  var residentKilobytes = 0
  /// `VmHWM`, the peak.
  var residentKilobytesMax = 0

  /// - Parameter status: the file's text. Missing values stay 0, such as the memory of an ended process.
  init(status: String) {
    for line in status.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " })
      guard words.count >= 2, let value = Int(words[1]) else { continue }
      switch words[0] {
      case "PPid": parent = pid_t(value)
      case "Threads": threads = value
      case "VmRSS": residentKilobytes = value
      case "VmHWM": residentKilobytesMax = value
      default: break
      }
    }
  }

  init?(of process: pid_t) {
    guard let text = textOfFile("/proc/\(process)/status") else { return nil }
    self.init(status: text)
  }
}

/// The text of a file, also in `/proc`; nil when it cannot be read.
func textOfFile(_ path: String) -> String? {
  (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
}
