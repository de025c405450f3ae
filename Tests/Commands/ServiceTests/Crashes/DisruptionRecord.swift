/// A disruption that happened, and what it may have undone. Times are microseconds since 1970.
struct DisruptionRecord {
  struct Work: Hashable {
    let message: String
    /// Nil for all recipients.
    let user: String?
  }

  let name: String
  /// Whether the database may have forgotten commits of the service.
  let isCrash: Bool
  /// When the unsafe work was read.
  let beganAt: Int64
  /// When it had struck.
  let struckAt: Int64
  /// Work that was claimed and not recorded then, or recorded and not on the disk.
  let unsafeWork: Set<Work>
}
