internal import PushRules
internal import PushStore

/// One of the questions that can keep a push back, answered from what was recorded: the gate's own, then the rules of
/// `SuppressionPolicy` in their precedence.
enum SuppressionRule: Equatable {
  /// The gate asks this before the rules, unless the message is deleted.
  case participant
  case policy(SuppressionPolicy.Rule)

  /// In the order in which they are asked.
  static let allCases = [.participant] + SuppressionPolicy.Rule.allCases.map(SuppressionRule.policy)

  func applies(to known: HistoryEntry.Situation) -> Bool {
    switch self {
    case .participant: !known.isParticipant && !known.isDeleted
    case .policy(let rule): rule.decision(for: known.recipientSituation, by: known.policy) != nil
    }
  }

  /// The reason that the ledger gets when it applies.
  var reason: String {
    switch self {
    case .participant: "not_participant"
    case .policy(let rule): rule.reason.rawValue
    }
  }

  /// The first rule that applied; nil when the push could go.
  static func first(for known: HistoryEntry.Situation) -> SuppressionRule? {
    allCases.first { $0.applies(to: known) }
  }

  /// What was asked, up to the rule that decided. What most kinds of push cannot be is told where it applies.
  static func asked(of known: HistoryEntry.Situation) -> [SuppressionRule] {
    let last = allCases.firstIndex { $0.applies(to: known) } ?? allCases.endIndex - 1
    return allCases[...last].filter { rule in
      ![.policy(.cancelled), .policy(.capped)].contains(rule) || rule.applies(to: known)
    }
  }
}

// The same rules in words: a name, and what was found.
extension SuppressionRule {
  /// What it looks at.
  var name: String {
    switch self {
    case .participant: "takes part"
    case .policy(.deleted): "deleted"
    case .policy(.cancelled): "cancelled"
    case .policy(.alreadyRead): "read"
    case .policy(.expired): "age"
    case .policy(.seen): "seen since"
    case .policy(.optedOut): "opted out"
    case .policy(.muted): "muted"
    case .policy(.notMentioned): "mentions only"
    case .policy(.capped): "cap group"
    case .policy(.noDevices): "devices"
    case .policy(.quietHours): "quiet hours"
    case .policy(.viewing): "presence"
    }
  }

  func finding(in known: HistoryEntry.Situation) -> String {
    switch self {
    case .participant: known.isParticipant ? "yes" : "no"
    case .policy(.deleted): known.isDeleted ? "yes" : "no"
    case .policy(.cancelled): known.isCancelled ? "yes" : "no"
    case .policy(.alreadyRead): known.hasRead ? "yes" : "no"
    case .policy(.expired): Self.age(known)
    case .policy(.seen): Self.sight(known)
    case .policy(.optedOut): known.isOptedOut ? "yes" : "no"
    case .policy(.muted): known.isMuted ? "yes" : "no"
    case .policy(.notMentioned): Self.mention(known)
    case .policy(.capped): known.isCapped ? "had its push today" : "no"
    case .policy(.noDevices): "\(known.deviceCount)"
    case .policy(.quietHours): Self.quietHours(known)
    case .policy(.viewing): Self.presence(known)
    }
  }

  private static func age(_ known: HistoryEntry.Situation) -> String {
    let held = known.heldFor > 0 ? ", \(TimeText.span(known.heldFor)) of it held on purpose" : ""
    return "\(TimeText.span(known.messageAge))\(held); the limit is \(TimeText.span(known.life ?? known.timeToLive))"
  }

  private static func sight(_ known: HistoryEntry.Situation) -> String {
    guard let age = known.lastSeenAge else { return "no: no look was ever reported" }
    if age < 0 { return "unknown: the last look lies \(TimeText.span(age)) in the future" }
    let when = age - known.messageAge
    return known.sawAfterMessage
      ? "yes: a look was reported \(TimeText.span(when)) after the commit"
      : "no: the last look was reported \(TimeText.span(when)) before the commit"
  }

  private static func mention(_ known: HistoryEntry.Situation) -> String {
    guard known.wantsMentionsOnly else { return "no" }
    return known.isMentioned ? "yes, and mentioned" : "yes, and not mentioned"
  }

  private static func quietHours(_ known: HistoryEntry.Situation) -> String {
    guard let remaining = known.quietHoursRemaining, remaining > 0 else { return "no" }
    return "yes, for another \(TimeText.span(remaining)); the wish is \(known.quietHoursPolicy ?? "hold")"
  }

  private static func presence(_ known: HistoryEntry.Situation) -> String {
    let window = "the window is \(TimeText.span(known.window))"
    if known.hasLeft { return "has left" }
    if let age = known.lastSeenAge, age >= 0 { return "last look \(TimeText.span(age)) before the claim; \(window)" }
    if let age = known.newestOtherReadAge, age >= 0 {
      return "no looks; has read the newest other message, touched \(TimeText.span(age)) before; \(window)"
    }
    if let age = known.lastSeenAge {
      return "unknown: the last look lies \(TimeText.span(age)) in the future, which proves nothing"
    }
    if let age = known.newestOtherReadAge {
      return "unknown: the newest other message was touched \(TimeText.span(age)) in the future, which proves nothing"
    }
    return "unknown: no look or read was ever reported"
  }
}
