internal import PushStore

/// Whether anybody does the work.
enum BacklogCheck {
  /// From ``QueueOverview/overdueFrom`` on it is a warning.
  static let failureFrom = Duration.seconds(60)
  /// A push for APNs that is older than this waits for more than a passing fault.
  static let waitingFrom = Duration.seconds(60)

  private static let serviceRemedy = "see whether tacet serve runs and what its log and /readyz say"

  static func judge(_ backlog: ExaminedBacklog) -> [CheckFinding] {
    [inbox(backlog), deliveries(backlog), waiting(backlog), parked(backlog)]
  }

  private static func inbox(_ backlog: ExaminedBacklog) -> CheckFinding {
    let rows = Words.count(backlog.events, of: ExaminedBacklog.rowsMax, "row", "rows")
    guard let overdue = backlog.eventOverdue else { return CheckFinding("inbox", .ok, "empty") }
    guard overdue >= QueueOverview.overdueFrom else {
      return CheckFinding("inbox", .ok, "\(rows), the oldest could be claimed \(Words.duration(overdue)) ago")
    }
    return CheckFinding(
      "inbox", overdue < failureFrom ? .warning : .failure,
      "\(rows), and the oldest has waited to be claimed for \(Words.duration(overdue))", remedy: serviceRemedy)
  }

  private static func deliveries(_ backlog: ExaminedBacklog) -> CheckFinding {
    guard let overdue = backlog.deliveryOverdue, overdue >= QueueOverview.overdueFrom else {
      return CheckFinding("holds and retries", .ok, "none is overdue")
    }
    return CheckFinding(
      "holds and retries", overdue < failureFrom ? .warning : .failure,
      "the first has been due for \(Words.duration(overdue))", remedy: serviceRemedy)
  }

  private static func waiting(_ backlog: ExaminedBacklog) -> CheckFinding {
    let rows = Words.count(backlog.waiting, of: ExaminedBacklog.rowsMax, "push", "pushes")
    guard let age = backlog.waitingAge, backlog.waiting > 0 else {
      return CheckFinding("waiting for APNs", .ok, "none")
    }
    guard age >= waitingFrom else {
      return CheckFinding("waiting for APNs", .ok, "\(rows), the oldest for \(Words.duration(age))")
    }
    return CheckFinding(
      "waiting for APNs", .warning, "\(rows), the oldest for \(Words.duration(age))",
      remedy: "see what the apns checks and /readyz say; they go when APNs takes pushes again")
  }

  private static func parked(_ backlog: ExaminedBacklog) -> CheckFinding {
    guard backlog.parked > 0 else { return CheckFinding("parked", .ok, "none") }
    return CheckFinding(
      "parked", .warning, Words.count(backlog.parked, of: ExaminedBacklog.rowsMax, "row", "rows"),
      remedy: "read the reasons in tacet.parked, mend them, then tacet.replay(subject_id)")
  }
}
