import Glibc

/// What processes have used of the processors, in user space and in the kernel.
enum ProcessorTime {
  /// Of all threads of a process, those that have ended included, in nanoseconds; nil when there is no such process.
  ///
  /// From the process's clock, because `utime` and `stime` in `/proc` count in hundredths of a second.
  static func nanoseconds(of process: pid_t) -> UInt64? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Of a process's children that have ended, in nanoseconds, from the text of `/proc/PID/stat`: `cutime` and `cstime`,
  /// its 16th and 17th field. The second field is a name in parentheses, which may hold anything.
  /// - Parameter ticksPerSecond: `sysconf(_SC_CLK_TCK)`.
  static func ofEndedChildren(stat: String, ticksPerSecond: Int) -> UInt64? {
    guard let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 14, let user = UInt64(fields[13]), let system = UInt64(fields[14]) else { return nil }
    return (user + system) * 1_000_000_000 / UInt64(ticksPerSecond)
  }
}
