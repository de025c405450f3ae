internal import PushRules

/// Rules to decide past pushes by, as far as they differ from those of then.
public struct ReplayRules: Equatable, Sendable {
  /// For all kinds of events.
  public var general = RuleChange()
  /// For single kinds; a member that is there replaces the general one.
  public var kinds: [String: RuleChange] = [:]

  /// Without a change: every push is decided by the rules that the ledger has recorded with it.
  public init() {}

  /// Whether nothing differs.
  public var isUnchanged: Bool { self == ReplayRules() }

  /// What applies to a kind.
  func change(for kind: String) -> RuleChange {
    guard let special = kinds[kind] else { return general }
    return special.completed(by: general)
  }
}

/// A change of the rules for some events; nil keeps what was in force.
public struct RuleChange: Equatable, Sendable {
  /// How long a sign of presence counts.
  public var window: Duration?
  /// How old an event may be. An event with its own life keeps that.
  public var timeToLive: Duration?
  /// Quiet hours of all users, instead of their own.
  public var quietHours: QuietHoursChange?
  /// Whether a mention is sent although the recipient has muted the conversation.
  public var mentionBreaksMute: Bool?
  /// Whether a mention is sent in quiet hours.
  public var mentionBreaksQuietHours: Bool?
  /// For how long after a push with sound the following ones of the same conversation are silent; zero for never.
  public var foldWindow: Duration?

  /// No change.
  public init() {}

  fileprivate func completed(by general: RuleChange) -> RuleChange {
    var change = general
    change.window = window ?? general.window
    change.timeToLive = timeToLive ?? general.timeToLive
    change.quietHours = quietHours ?? general.quietHours
    change.mentionBreaksMute = mentionBreaksMute ?? general.mentionBreaksMute
    change.mentionBreaksQuietHours = mentionBreaksQuietHours ?? general.mentionBreaksQuietHours
    change.foldWindow = foldWindow ?? general.foldWindow
    return change
  }

  /// The limits, where those of then are known.
  func limits(_ then: SuppressionPolicy) -> SuppressionPolicy {
    SuppressionPolicy(window: window ?? then.window, timeToLive: timeToLive ?? then.timeToLive)
  }
}

/// Other quiet hours than the users'.
public enum QuietHoursChange: Equatable, Sendable {
  /// None at all.
  case off
  /// The same for everyone.
  case daily(DailyQuietHours)
}
