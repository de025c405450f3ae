internal import PushRules
internal import PushStore

/// Why a push was held or skipped, as a clause behind "because": by the recorded reason, with the recorded numbers.
struct DecisionWords {
  /// Also of those that are not the rules' own.
  static let reasons = DecisionReason.allCases.map(\.rawValue) + ["not_participant", ShadowedKinds.reason]

  let kind: String
  /// Nil for what a reason means by itself.
  let known: HistoryEntry.Situation?

  private var event: String { KnownKinds.words(ofEventKind: kind).event }
  private var surface: String { KnownKinds.words(ofEventKind: kind).surface }

  /// The clause; nil for a reason that no rule has.
  func clause(for reason: String) -> String? {
    switch reason {
    case "user_viewing": viewing
    case "already_read": "the user had read the \(event)"
    case "no_recipients": "nobody but the sender takes part in \(surface)"
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
    case "folding": "the push before it in its burst had no answer for long, so the \(event) was looked at again"
    case "folded": "the notification of its burst shows a newer \(event), and counts this one"
    default: nil
    }
  }

  private var expired: String {
    guard let known else { return "the \(event) was older than a push of it is worth" }
    if let life = known.life {
      return "the push was to be sent within \(TimeText.span(life)), and \(TimeText.span(known.messageAge)) had passed"
    }
    let held = known.heldFor > .zero ? ", the time it was held not counted" : ""
    return
      "the \(event) was \(TimeText.span(known.messageAge - known.heldFor)) old by then\(held), and is worth a push for"
      + " \(TimeText.span(known.policy.timeToLive))"
  }

  private var quietHours: String {
    guard let known else { return "it was within the user's quiet hours" }
    guard known.quietHoursPolicy == .drop else {
      return "it was within the user's quiet hours, for another \(TimeText.span(known.quietHoursRemaining ?? .zero))"
    }
    return "it was within the user's quiet hours, and the user wants such pushes dropped"
  }

  private var viewing: String {
    guard let known else { return "the user was looking at \(surface), or has looked at it since" }
    if SuppressionRule(.seen).applies(known), let age = known.lastSeenAge {
      return "the user has looked at \(surface) since: the app reported it \(TimeText.span(known.messageAge - age))"
        + " after the \(event)"
    }
    let window = "the window is \(TimeText.span(known.policy.window))"
    if let age = known.lastSeenAge {
      return "the user was looking at \(surface): the app reported it \(before(age, known)), and \(window)"
    }
    guard let age = known.newestOtherReadAge else { return "the user was looking at \(surface)" }
    return "the user was probably looking at \(surface): of its other messages the newest was read, and touched"
      + " \(before(age, known)), and \(window)"
  }

  /// When a sign of presence came, told from the commit on.
  private func before(_ age: Duration, _ known: HistoryEntry.Situation) -> String {
    if age < .zero { return "by a clock that is \(TimeText.span(age)) ahead" }
    let difference = age - known.messageAge
    return difference >= .zero
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
    default: "by \(cause)"
    }
  }

  /// As a sentence's clause.
  /// - Parameter event: what an event of its kind is called.
  static func release(_ cause: String, of event: String) -> String {
    switch cause {
    case "read": "the user had read the \(event)"
    case "seen": "the app reported that the user was looking"
    case "left": "the user left"
    case "removed": "the user was taken out of the conversation"
    case "deleted": "the \(event) was deleted"
    case "cancelled": "the push was cancelled"
    case "preferences": "the user's preferences changed"
    case "review": "a second look found what had changed while the hold was being recorded"
    case "host": "the application said that something had changed"
    default: "something was learnt (\(cause))"
    }
  }
}

/// One of the questions that can keep a push back, answered from what was recorded: the gate's own, then the rules of
/// `SuppressionPolicy` in their precedence.
struct SuppressionRule: Sendable {
  typealias Known = HistoryEntry.Situation

  /// The reason that the ledger gets when it applies.
  let reason: String
  /// What it looks at.
  let name: String
  let applies: @Sendable (Known) -> Bool
  let finding: @Sendable (Known) -> String
  /// Whether most kinds of push cannot be that, so that it is told where it applies alone.
  var isRare = false

  /// In the order in which they are asked.
  static let all = [participant] + SuppressionPolicy.Rule.allCases.map { SuppressionRule($0) }

  /// The gate asks this before the rules, unless the message is deleted.
  private static let participant = SuppressionRule(
    reason: "not_participant", name: "takes part", applies: { !$0.isParticipant && !$0.isDeleted },
    finding: { yes($0.isParticipant) })

  /// The first rule that applied; nil when the push could go.
  static func first(for known: Known) -> SuppressionRule? { all.first { $0.applies(known) } }

  /// What was asked, up to the rule that decided.
  static func asked(of known: Known) -> [SuppressionRule] {
    let last = all.firstIndex { $0.applies(known) } ?? all.endIndex - 1
    return all[...last].filter { !$0.isRare || $0.applies(known) }
  }
}

extension SuppressionRule {
  init(_ rule: SuppressionPolicy.Rule) {
    let (name, finding) = Self.words(rule)
    self.init(
      reason: rule.reason.rawValue, name: name,
      applies: { rule.decision(for: $0.facts, by: $0.policy) != nil }, finding: finding,
      isRare: rule == .cancelled || rule == .capped)
  }

  private static func words(_ rule: SuppressionPolicy.Rule) -> (String, @Sendable (Known) -> String) {
    switch rule {
    case .deleted: ("deleted", { yes($0.isDeleted) })
    case .cancelled: ("cancelled", { yes($0.isCancelled) })
    case .alreadyRead: ("read", { yes($0.hasRead) })
    case .expired: ("age", age)
    case .seen: ("seen since", sight)
    case .optedOut: ("opted out", { yes($0.isOptedOut) })
    case .muted: ("muted", { yes($0.isMuted) })
    case .notMentioned: ("mentions only", mention)
    case .capped: ("cap group", { $0.isCapped ? "had its push today" : "no" })
    case .noDevices: ("devices", { "\($0.deviceCount)" })
    case .quietHours: ("quiet hours", quietHours)
    case .viewing: ("presence", presence)
    }
  }

  @Sendable private static func yes(_ truth: Bool) -> String { truth ? "yes" : "no" }

  @Sendable private static func age(_ known: Known) -> String {
    let held = known.heldFor > .zero ? ", \(TimeText.span(known.heldFor)) of it held on purpose" : ""
    return
      "\(TimeText.span(known.messageAge))\(held); the limit is \(TimeText.span(known.life ?? known.policy.timeToLive))"
  }

  @Sendable private static func sight(_ known: Known) -> String {
    guard let age = known.lastSeenAge else { return "no: no look was ever reported" }
    if age < .zero { return "unknown: the last look lies \(TimeText.span(age)) in the future" }
    let when = age - known.messageAge
    return known.sawAfterMessage
      ? "yes: a look was reported \(TimeText.span(when)) after the commit"
      : "no: the last look was reported \(TimeText.span(when)) before the commit"
  }

  @Sendable private static func mention(_ known: Known) -> String {
    guard known.wantsMentionsOnly else { return "no" }
    return known.isMentioned ? "yes, and mentioned" : "yes, and not mentioned"
  }

  @Sendable private static func quietHours(_ known: Known) -> String {
    guard let remaining = known.quietHoursRemaining, remaining > .zero else { return "no" }
    return "yes, for another \(TimeText.span(remaining)); the wish is \(known.quietHoursPolicy.rawValue)"
  }

  @Sendable private static func presence(_ known: Known) -> String {
    let window = "the window is \(TimeText.span(known.policy.window))"
    if known.hasLeft { return "has left" }
    if let age = known.lastSeenAge, age >= .zero {
      return "last look \(TimeText.span(age)) before the claim; \(window)"
    }
    if let age = known.newestOtherReadAge, age >= .zero {
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
