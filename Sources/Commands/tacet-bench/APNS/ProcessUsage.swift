import Glibc
import Reactors

/// What a process has used: real time and processor time, in nanoseconds.
struct ProcessUsage: Sendable, Equatable {
  /// By the monotonic clock.
  let monotonic: UInt64
  /// Of all threads, in user space and in the kernel.
  let processor: UInt64

  static var current: ProcessUsage {
    var usage = rusage()
    let code = getrusage(RUSAGE_SELF.rawValue, &usage)
    precondition(code == 0, "getrusage fails for a wrong argument only")
    return ProcessUsage(
      monotonic: Reactor.now, processor: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))
  }

  /// What has been used since an earlier moment.
  func since(_ earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(monotonic: monotonic - earlier.monotonic, processor: processor - earlier.processor)
  }

  private static func nanoseconds(_ time: timeval) -> UInt64 {
    UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
  }
}
