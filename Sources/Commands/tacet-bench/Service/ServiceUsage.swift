import Glibc

/// What the service and the database server have used of the processors until a moment, in nanoseconds.
struct ServiceUsage: Sendable, Equatable {
  let service: UInt64
  /// Nil when the server's processes cannot be looked at.
  let cluster: ClusterUsage?

  init(of service: pid_t, postmaster: pid_t?) {
    self.service = ProcessorTime.nanoseconds(of: service) ?? 0
    cluster = postmaster.flatMap { ClusterUsage(of: $0) }
  }

  /// What was used since an earlier moment, for each of a number of things, such as pushes.
  func figures(since earlier: ServiceUsage, per noun: String, count: Int) -> [String: Double] {
    guard count > 0 else { return [:] }
    var figures = ["cpu_us_per_\(noun)": Double(service - min(service, earlier.service)) / 1e3 / Double(count)]
    if let cluster, let before = earlier.cluster {
      figures["database_cpu_us_per_\(noun)"] = Double(cluster.since(before)) / 1e3 / Double(count)
    }
    return figures
  }
}
