internal import Glibc

/// How many descriptors the process may have open (`RLIMIT_NOFILE`).
package enum DescriptorLimit {
  package static var current: Int { Int(clamping: read().rlim_cur) }

  /// Raises the soft limit to the hard limit. The soft limit is low because of `select`, which this process does not use.
  /// - Returns: the limit now in force.
  @discardableResult
  package static func raise() -> Int {
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

/// A spare descriptor, released to turn a connection away when the process has no descriptor left.
///
/// Without it the connection would stay in the kernel's queue, and its peer would wait in vain.
package final class DescriptorReserve {
  private var descriptor: Int32 = -1

  /// Opens a descriptor if the process may.
  package init() { refill() }

  deinit { release() }

  /// Frees the descriptor while `body` runs. `body` must close what it opens.
  ///
  /// Another thread may take the free descriptor first. Then later calls free nothing until a descriptor is closed.
  package func lend(_ body: () -> Void) {
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
