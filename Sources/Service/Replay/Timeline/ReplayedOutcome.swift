/// How a push ends: as the ledger has it, or under other rules. Times are microseconds since 1970.
public enum ReplayedOutcome: Equatable, Sendable {
  /// It goes out. Whether a device takes it is no matter of rules.
  /// - Parameter after: the reason of the hold that ended then; nil for a push that goes out at the first look.
  case pushed(at: Int64, after: String?)
  /// It never goes out.
  case skipped(reason: String)
  /// It was still waiting when the ledger was read.
  case held(until: Int64, reason: String)
  /// It waits until a moment at least, longer than the ledger knows the recipient: then it goes out, unless the recipient has
  /// read or seen it by then.
  case open(from: Int64, reason: String)
  /// It depends on what was not recorded.
  case notRecorded

  /// In a few words, the same for all pushes of a row of the report.
  var words: String {
    switch self {
    case .pushed(_, nil): "sent"
    case .pushed(_, let reason?): "held \(reason), then sent"
    case .skipped(let reason): "skipped \(reason)"
    case .held(_, let reason): "held \(reason)"
    case .open(_, let reason): "held \(reason), then not known"
    case .notRecorded: "not recorded"
    }
  }

  /// When it goes out, as far as that is known.
  var time: Int64? {
    switch self {
    case .pushed(let at, _), .held(let at, _): at
    case .skipped, .open, .notRecorded: nil
    }
  }
}

/// What a change of the rules does to a push.
public enum ReplayEffect: String, CaseIterable, Sendable {
  /// It is sent, and was not.
  case more
  /// It is not sent, and was.
  case fewer
  /// It is sent later.
  case later
  /// It is sent earlier.
  case earlier
  /// It is sent later, or not at all if the recipient has read or seen it by then; the ledger does not say which.
  case laterOrNever = "later_or_never"
  /// It is not sent in either case, for different reasons.
  case otherReason = "other_reason"
  /// It depends on what was not recorded.
  case notRecorded = "not_recorded"

  /// Nil where nothing changes.
  init?(from before: ReplayedOutcome, to after: ReplayedOutcome) {
    switch (before, after) {
    case (.notRecorded, _), (_, .notRecorded): self = .notRecorded
    case (_, .open): self = .laterOrNever
    case (.skipped(let old), .skipped(let new)):
      guard old != new else { return nil }
      self = .otherReason
    default:
      switch (before.time, after.time) {
      case (let old?, let new?):
        guard old != new else { return nil }
        self = new > old ? .later : .earlier
      case (nil, _): self = .more
      case (_, nil): self = .fewer
      }
    }
  }
}
