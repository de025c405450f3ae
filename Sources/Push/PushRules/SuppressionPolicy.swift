/// What the database knows about one recipient of one message at the moment of the decision.
///
/// The database computes all ages with its own clock, so no two machines' clocks are ever compared. An age of zero is now. A
/// negative one lies in the database's future: another clock has written it, so it proves nothing.
///
/// One value from the claim to the ledger and to explanations. A new fact is a member here, its line in
/// `HistoryEntry.Situation`, and the column of the claim that it comes from.
package struct RecipientSituation: Equatable, Sendable {
  /// Whether the recipient still takes part. The gate asks before the rules, unless the message is deleted.
  package var isParticipant = true
  /// Since the message was committed.
  package var messageAge = Duration.zero
  /// The part of ``messageAge`` that this push was held on purpose; it does not count towards expiry.
  package var heldFor = Duration.zero
  /// Whether the message, or its conversation, is gone.
  package var isDeleted = false
  package var isCancelled = false
  /// Whether its cap group allows no more pushes on the user's day.
  package var isCapped = false
  /// How long the push may be sent, counted from the beginning of ``messageAge``; nil for the policy's time to live.
  package var life: Duration?
  /// Whether the recipient is in the message's `read_by`.
  package var hasRead = false
  /// Since the recipient's client last reported looking at the conversation; nil when it never did.
  package var lastSeenAge: Duration?
  /// Whether that report is later than the message's arrival.
  package var sawAfterMessage = false
  /// Whether the client has reported leaving the conversation since it was last seen there.
  package var hasLeft = false
  /// Since the newest other message of the conversation was touched, if the recipient has read it; nil otherwise.
  package var newestOtherReadAge: Duration?
  /// Whether the recipient wants no pushes of this kind.
  package var isOptedOut = false
  /// Whether the recipient silenced the conversation or its sender.
  package var isMuted = false
  package var wantsMentionsOnly = false
  /// Whether the message mentions the recipient; known only for those who want mentions only.
  package var isMentioned = false
  /// Until the recipient's quiet hours end; nil outside them.
  package var quietHoursRemaining: Duration?
  package var quietHoursPolicy = QuietHoursPolicy.hold
  package var deviceCount = 1

  /// That of a recipient with one device and no other known facts.
  package static var nothingKnown: RecipientSituation { RecipientSituation() }
}

package enum QuietHoursPolicy: String, CaseIterable, Sendable {
  /// It waits until they end, and is then decided again.
  case hold
  /// It is not sent; the app shows the message when it is opened.
  case drop
}

/// What the host's tables say of a recipient's presence; each in microseconds since 1970, nil where it is unknown.
///
/// All are compared with the moment of the claim, by the database's clock, so no two machines' clocks are ever compared. A time
/// after that moment was written by another clock: it proves nothing.
package struct PresenceTimes: Equatable, Sendable {
  /// When the recipient's client last reported looking at the conversation.
  package var lastSeen: Int64?
  /// When the client last reported leaving it.
  package var left: Int64?
  /// When the newest other message of the conversation was touched, if the recipient has read it.
  package var readOther: Int64?
  /// The date of the message itself.
  package var created: Int64?

  package init(lastSeen: Int64? = nil, left: Int64? = nil, readOther: Int64? = nil, created: Int64? = nil) {
    self.lastSeen = lastSeen
    self.left = left
    self.readOther = readOther
    self.created = created
  }
}

extension RecipientSituation {
  /// Computes what the rules ask of presence.
  /// - Parameters:
  ///   - enqueuedAt: when the message was committed. moment: of the claim. Both in microseconds since 1970.
  package mutating func set(_ times: PresenceTimes, enqueuedAt: Int64, moment: Int64) {
    lastSeenAge = times.lastSeen.map { .microseconds(moment - $0) }
    newestOtherReadAge = times.readOther.map { .microseconds(moment - $0) }
    let (lastSeen, left, readOther) = (
      times.lastSeen?.known(at: moment), times.left?.known(at: moment), times.readOther?.known(at: moment)
    )
    // A date of the message that lies in the future says nothing about when it came.
    let arrival = max(enqueuedAt, times.created?.known(at: moment) ?? enqueuedAt)
    sawAfterMessage = lastSeen.map { $0 > arrival } ?? false
    // Since the last sign of presence. Having read the newest other message stands in for looks that are not reported.
    hasLeft = if let left, let sign = lastSeen ?? readOther { left >= sign } else { false }
  }
}

extension Int64 {
  fileprivate func known(at moment: Int64) -> Int64? { self <= moment ? self : nil }
}

/// The limits of the suppression rules, and the decision about one recipient's push.
package struct SuppressionPolicy: Equatable, Sendable {
  /// How long after a sign of presence a recipient counts as still looking. The end is exclusive: a sign exactly this old
  /// no longer counts. 60 s are two to four of the reports that a client sends every 15 to 30 s while it shows the
  /// conversation.
  package let window: Duration
  /// The oldest a message may be when its push goes out, without the time it was held on purpose; inclusive. An hour covers
  /// an outage that an operator repairs, and keeps a backlog of yesterday from ringing every phone.
  package let timeToLive: Duration

  /// In the order of their precedence; made once, because a decision is asked for every recipient.
  private static let rules = Rule.allCases

  /// A policy; neither limit may be negative.
  package init(window: Duration = .seconds(60), timeToLive: Duration = .seconds(3600)) {
    precondition(window >= .zero && timeToLive >= .zero, "a negative window or time to live means nothing")
    self.window = window
    self.timeToLive = timeToLive
  }

  /// Whether one recipient's push goes out, waits, or never comes: the word of the first ``Rule`` that applies, else `send`.
  ///
  /// Asked when a message arrives, whenever a hold ends or new facts arrive, and right before the send. The answer depends
  /// only on the arguments. Without a sign of presence the push goes out, because a lost message is worse than a needless
  /// one.
  package func decision(for situation: RecipientSituation) -> PushDecision {
    for rule in Self.rules {
      if let decision = rule.decision(for: situation, by: self) { return decision }
    }
    return .send
  }
}

extension SuppressionPolicy {
  /// A reason to suppress a push. The order of the cases is their precedence: facts that make the push pointless for good,
  /// then the recipient's wishes, then guesses.
  ///
  /// Before all of them, the gate asks whether the recipient takes part, unless the message is deleted.
  package enum Rule: CaseIterable, Sendable {
    /// Nothing is left to announce, and the text must not leave the database.
    case deleted
    /// The host or a server has taken it back.
    case cancelled
    /// Certain knowledge, so no clock is asked. Before ``expired``, because it is the truer reason of the two.
    case alreadyRead
    /// Before everything that could hold, so that no push waits that will not be sent.
    case expired
    /// The recipient has looked since the message came, which is certain too. Leaving afterwards does not undo it.
    case seen
    /// Wishes that hold at all times come before quiet hours, which only postpone. The widest is first: it concerns all
    /// pushes of a kind.
    case optedOut
    /// Concerns all of one conversation, mentions included.
    case muted
    /// Concerns the messages of one conversation that do not mention the recipient.
    case notMentioned
    /// The user has had the push of today that a group allows. After the wishes, which are the truer reasons.
    case capped
    /// Waiting would not bring a device. After the wishes, so that the log names the recipient's choice.
    case noDevices
    /// Before ``viewing``, because a hold for presence would end within them. A mention does not break them.
    case quietHours
    /// Seen lately: only probable, so the push is held and never dropped.
    case viewing

    package var reason: DecisionReason {
      switch self {
      case .deleted: .deleted
      case .cancelled: .cancelled
      case .alreadyRead: .alreadyRead
      case .expired: .expired
      case .seen, .viewing: .userViewing
      case .optedOut: .optedOut
      case .muted: .muted
      case .notMentioned: .notMentioned
      case .capped: .pushedToday
      case .noDevices: .noTokens
      case .quietHours: .quietHours
      }
    }

    /// The decision of this rule alone; nil when it does not apply.
    package func decision(for situation: RecipientSituation, by policy: SuppressionPolicy) -> PushDecision? {
      let applies: Bool
      switch self {
      case .deleted: applies = situation.isDeleted
      case .cancelled: applies = situation.isCancelled
      case .alreadyRead: applies = situation.hasRead
      case .expired: applies = situation.hasExpired(by: policy)
      // A report from the future proves nothing: that clock is wrong, so the report may be older than the message. Trusting
      // it would drop every message until the true time has caught up.
      case .seen: applies = situation.sawAfterMessage && situation.lastSeenAge.map { $0 >= .zero } == true
      case .optedOut: applies = situation.isOptedOut
      case .muted: applies = situation.isMuted
      case .notMentioned: applies = situation.wantsMentionsOnly && !situation.isMentioned
      case .capped: applies = situation.isCapped
      case .noDevices: applies = situation.deviceCount <= 0
      case .quietHours:
        guard let remaining = situation.quietHoursRemaining, remaining > .zero else { return nil }
        return situation.quietHoursPolicy == .hold ? .hold(for: remaining, reason: reason) : .skip(reason: reason)
      case .viewing:
        let remaining = situation.presenceRemaining(within: policy.window)
        return remaining > .zero ? .hold(for: remaining, reason: reason) : nil
      }
      return applies ? .skip(reason: reason) : nil
    }
  }
}

extension RecipientSituation {
  /// Time on hold counts only where the push has its own life.
  fileprivate func hasExpired(by policy: SuppressionPolicy) -> Bool {
    if let life { return messageAge > life }
    return messageAge - heldFor > policy.timeToLive
  }

  /// How much longer the recipient counts as looking; zero or less when not at all.
  ///
  /// Reports of views rule alone. Reads replace them for a client without reports, and are weaker, because an edit touches a
  /// message too. A client that reported leaving has ended its presence. A sign from the future does not count: otherwise
  /// anyone who dates a row could hold the pushes of others for any time.
  fileprivate func presenceRemaining(within window: Duration) -> Duration {
    guard !hasLeft else { return .zero }
    if let age = lastSeenAge, age >= .zero { return window - age }
    if let age = newestOtherReadAge, age >= .zero { return window - age }
    return .zero
  }
}

/// What happens to one recipient's push now.
package enum PushDecision: Equatable, Sendable {
  case send
  /// It waits at most this long, always more than zero, and is decided again then, or when new facts arrive.
  case hold(for: Duration, reason: DecisionReason)
  case skip(reason: DecisionReason)
}

/// Why a push was held or skipped. Raw values are part of the interface: they appear in answers, in the ledger and as metric
/// labels.
package enum DecisionReason: String, CaseIterable, Sendable {
  /// The recipient is looking at the conversation, or saw the message arrive.
  case userViewing = "user_viewing"
  case alreadyRead = "already_read"
  case noTokens = "no_tokens"
  /// Only the sender takes part; said of an event, never of a recipient.
  case noRecipients = "no_recipients"
  /// The recipient wants no pushes of this kind.
  case optedOut = "opted_out"
  /// The recipient silenced the conversation or the sender.
  case muted
  /// The recipient wants to hear of mentions only, and is not mentioned.
  case notMentioned = "not_mentioned"
  /// The recipient has had the one push a day of its cap group.
  case pushedToday = "pushed_today"
  case quietHours = "quiet_hours"
  case deleted
  case cancelled
  case expired
  /// The push before it in its burst had no answer for long, so the facts are looked at again.
  case folding
  /// The notification of its burst shows a newer message, and counts this one.
  case folded
}
