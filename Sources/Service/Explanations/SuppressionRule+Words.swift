internal import PushStore

// The same rules in words: a name, and what was found.
extension SuppressionRule {
  /// What it looks at.
  var name: String {
    switch self {
    case .participant: "takes part"
    case .deleted: "deleted"
    case .read: "read"
    case .expired: "age"
    case .sawItArrive: "seen since"
    case .optedOut: "opted out"
    case .muted: "muted"
    case .mentionsOnly: "mentions only"
    case .devices: "devices"
    case .quietHours: "quiet hours"
    case .viewing: "presence"
    }
  }

  /// What it found.
  func finding(in known: HistoryEntry.Situation) -> String {
    switch self {
    case .participant: known.isParticipant ? "yes" : "no"
    case .deleted: known.isDeleted ? "yes" : "no"
    case .read: known.hasRead ? "yes" : "no"
    case .expired: Self.age(known)
    case .sawItArrive: Self.sight(known)
    case .optedOut: known.isOptedOut ? "yes" : "no"
    case .muted: known.isMuted ? "yes" : "no"
    case .mentionsOnly: Self.mention(known)
    case .devices: "\(known.deviceCount)"
    case .quietHours: Self.quietHours(known)
    case .viewing: Self.presence(known)
    }
  }

  private static func age(_ known: HistoryEntry.Situation) -> String {
    let held = known.heldFor > 0 ? ", \(TimeText.span(known.heldFor)) of it held on purpose" : ""
    return "\(TimeText.span(known.messageAge))\(held); the limit is \(TimeText.span(known.timeToLive))"
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
