internal import PushStore

/// Whether what is known of deleted users goes.
enum ErasureCheck {
  static let name = "erasures"

  /// The service erases within ten seconds; passes over what was locked then take minutes.
  static let failureFrom = Duration.seconds(3600)

  /// - Parameter overdue: those of more than ten minutes ago; nil when there is none.
  static func judge(_ overdue: ExaminedErasures?) -> CheckFinding {
    guard let overdue else { return CheckFinding(name, .ok, "none is overdue") }
    let users = Words.count(overdue.users, of: ExaminedBacklog.rowsMax, "deleted user", "deleted users")
    return CheckFinding(
      name, overdue.age < failureFrom ? .warning : .failure,
      "rows of \(users) are still kept, the first deleted \(Words.duration(overdue.age)) ago",
      remedy: "see whether tacet serve runs, and in pg_stat_activity whether an old transaction locks their rows")
  }
}
