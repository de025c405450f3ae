package import PushRules
package import PushStore

/// Why a push was held or skipped, as a clause behind "because": by the recorded reason, with the recorded numbers.
struct DecisionWords {
  let kind: String
  let known: HistoryEntry.Situation

  var event: String { Self.event(of: kind) }

  static func event(of kind: String) -> String { KnownKinds.words(ofEventKind: kind).event }

  private var surface: String { KnownKinds.words(ofEventKind: kind).surface }

  /// The clause; nil for a reason that no rule has.
  func clause(for reason: String) -> String? {
    switch reason {
    case "user_viewing": viewing
    case "already_read": "the user had read the \(event)"
    case "no_tokens": "the user had no device to send it to"
    case "opted_out": "the user wants no pushes of the kind \(kind)"
    case "muted": "the user has muted \(surface) or its sender"
    case "not_mentioned": "the user wants to hear of mentions only here, and the \(event) did not mention them"
    case "quiet_hours": quietHours
    case "deleted": "the \(event), or what it is about, had been deleted"
    case "cancelled": "the push had been cancelled"
    case "pushed_today": "the user had had the push of the day that its cap group allows"
    case "expired": expired
    case ShadowedKinds.reason: "the service is a shadow (SHADOW): the push would have been sent"
    case "not_participant": "the user took no part in \(surface) any more"
    case "folding": "the \(event) followed others of a burst, whose notification changes once a second at most"
    case "folded": "the notification of its burst shows a newer \(event), and counts this one"
    default: nil
    }
  }

  private var expired: String {
    if let life = known.life {
      return "the push was to be sent within \(TimeText.span(life)), and \(TimeText.span(known.messageAge)) had passed"
    }
    let held = known.heldFor > 0 ? ", the time it was held not counted" : ""
    return
      "the \(event) was \(TimeText.span(known.messageAge - known.heldFor)) old by then\(held), and is worth a push for"
      + " \(TimeText.span(known.timeToLive))"
  }

  private var quietHours: String {
    guard known.quietHoursPolicy == "drop" else {
      return "it was within the user's quiet hours, for another \(TimeText.span(known.quietHoursRemaining ?? 0))"
    }
    return "it was within the user's quiet hours, and the user wants such pushes dropped"
  }

  private var viewing: String {
    if SuppressionRule.policy(.seen).applies(to: known), let age = known.lastSeenAge {
      return "the user has looked at \(surface) since: the app reported it \(TimeText.span(known.messageAge - age))"
        + " after the \(event)"
    }
    let window = "the window is \(TimeText.span(known.window))"
    if let age = known.lastSeenAge {
      return "the user was looking at \(surface): the app reported it \(before(age)), and \(window)"
    }
    guard let age = known.newestOtherReadAge else { return "the user was looking at \(surface)" }
    return "the user was probably looking at \(surface): of its other messages the newest was read, and touched"
      + " \(before(age)), and \(window)"
  }

  /// When a sign of presence came, told from the commit on.
  private func before(_ age: Int64) -> String {
    if age < 0 { return "by a clock that is \(TimeText.span(age)) ahead" }
    let difference = age - known.messageAge
    return difference >= 0
      ? "\(TimeText.span(difference)) before the \(event)" : "\(TimeText.span(difference)) after the \(event)"
  }
}

/// What made the service look, and what ended a hold.
enum CauseWords {
  /// As a clause behind "woken".
  static func wake(_ cause: String) -> String {
    switch cause {
    case "notify": "by PostgreSQL's notification"
    case "webhook": "by a webhook"
    case "poll": "by its poll"
    case "start": "by its own start"
    case "due": "because work had become due"
    case "neighbour": "by another of its reactors, which had more than it could take"
    default: "by \(cause)"
    }
  }

  /// As a sentence's clause.
  static func release(_ cause: String, kind: String) -> String {
    let event = DecisionWords.event(of: kind)
    return switch cause {
    case "read": "the user had read the \(event)"
    case "seen": "the app reported that the user was looking"
    case "left": "the user left"
    case "removed": "the user was taken out of the conversation"
    case "deleted": "the \(event) was deleted"
    case "cancelled": "the push was cancelled"
    case "preferences": "the user's preferences changed"
    case "review": "a second look found what had changed while the hold was being recorded"
    case "host": "the host's own trigger said so"
    default: "something was learnt (\(cause))"
    }
  }
}

enum CountWords {
  static func devices(_ count: Int) -> String { counted(count, "device") }

  static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

/// What a message did in its burst, in words.
enum FoldWords {
  /// The decision about a push to which no rule objects.
  static func verdict(_ entry: HistoryEntry) -> String {
    guard let fold = entry.fold else { return "decided: send, because no rule objects" }
    if entry.decision == .skipped {
      return "decided: no push (folded): the notification of its burst shows a newer message; +\(fold.more) more"
    }
    if entry.remaining == "held", let due = entry.dueMicroseconds {
      return "decided: held for \(TimeText.span(due)) (folding): it follows others of the burst that message"
        + " \(fold.burst) began"
    }
    return fold.sounds
      ? "decided: send with sound, because no rule objects; it begins a burst"
      : "decided: send without sound, as an update of the notification of message \(fold.burst): +\(fold.more) more"
  }

  /// The subject of a sentence about a push that was sent.
  static func push(_ entry: HistoryEntry?) -> String {
    guard let fold = entry?.fold, !fold.sounds else { return "A push" }
    return "A silent update of the notification of its burst (+\(fold.more) more)"
  }
}

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

extension HistoryEntry.Situation {
  /// What the rules were given, as far as it is kept.
  package var recipientSituation: RecipientSituation {
    var known = RecipientSituation.nothingKnown
    known.messageAge = .microseconds(messageAge)
    known.heldFor = .microseconds(heldFor)
    known.isDeleted = isDeleted
    known.isCancelled = isCancelled
    known.isCapped = isCapped
    known.life = life.map { .microseconds($0) }
    known.hasRead = hasRead
    known.lastSeenAge = lastSeenAge.map { .microseconds($0) }
    known.sawAfterMessage = sawAfterMessage
    known.hasLeft = hasLeft
    known.newestOtherReadAge = newestOtherReadAge.map { .microseconds($0) }
    known.isOptedOut = isOptedOut
    known.isMuted = isMuted
    known.wantsMentionsOnly = wantsMentionsOnly
    known.isMentioned = isMentioned
    known.quietHoursRemaining = quietHoursRemaining.map { .microseconds($0) }
    known.quietHoursPolicy = quietHoursPolicy.flatMap(QuietHoursPolicy.init) ?? .hold
    known.deviceCount = deviceCount
    return known
  }

  /// The limits of that time.
  package var policy: SuppressionPolicy {
    SuppressionPolicy(window: .microseconds(max(0, window)), timeToLive: .microseconds(max(0, timeToLive)))
  }
}
