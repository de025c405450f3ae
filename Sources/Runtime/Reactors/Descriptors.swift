internal import Glibc

/// How many descriptors the process may have open (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
  /// The limit in force.
  public static var current: Int { Int(clamping: read().rlim_cur) }

  /// Raises the limit as far as the process may raise it by itself.
  ///
  /// The soft limit is low for the sake of `select`, which this process does not use.
  /// - Returns: the limit then in force.
  @discardableResult
  public static func raise() -> Int {
    var limit = read()
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return current
  }

  private static func read() -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }
}

/// A descriptor kept back, to be given up for the moment in which a connection must be turned away although no descriptor
/// is left. Without it the connection would stay in the kernel's queue, and its peer would wait for nothing.
public final class DescriptorReserve {
  private var descriptor: Int32 = -1

  /// Takes a descriptor if there is one.
  public init() { refill() }

  deinit { release() }

  /// Frees the descriptor for the length of `body`, whose descriptor must be closed when it returns.
  ///
  /// Another thread may be quicker to take the free one; then the next call has none to free until one is closed.
  public func lend(_ body: () -> Void) {
    release()
    body()
    refill()
  }

  private func refill() { descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }

  private func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
