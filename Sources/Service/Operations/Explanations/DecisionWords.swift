internal import PushRules
internal import PushStore

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
