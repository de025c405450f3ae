extension SuppressionPolicy {
  /// A reason to suppress a push. The order of the cases is their precedence: facts that make the push pointless for good,
  /// then the recipient's wishes, then guesses.
  ///
  /// Before all of them, the gate asks whether the recipient takes part, unless the message is deleted.
  public enum Rule: CaseIterable, Sendable {
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

    /// The reason that the ledger gets.
    public var reason: DecisionReason {
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
    public func decision(for situation: RecipientSituation, by policy: SuppressionPolicy) -> PushDecision? {
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
