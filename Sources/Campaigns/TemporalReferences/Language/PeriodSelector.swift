/// Which of several weeks, months or weekdays is meant.
public enum PeriodSelector: Hashable, Sendable {
  /// The nearest that is not over.
  case this
  /// The first that begins after today.
  case coming
  /// That of the following week, month or year.
  case next
  /// That after the following one.
  case afterNext
  /// The one before.
  case last
  /// All of them, which dates nothing.
  case every
}

extension PeriodSelector {
  /// How many units later than the message's own; nil for all of them.
  var offset: Int? {
    switch self {
    case .this: 0
    case .coming, .next: 1
    case .afterNext: 2
    case .last: -1
    case .every: nil
    }
  }
}
