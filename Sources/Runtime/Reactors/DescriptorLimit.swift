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
