/// The limits of the suppression rules, and the decision about one recipient's push.
public struct SuppressionPolicy: Equatable, Sendable {
  /// How long after a sign of presence a recipient counts as still looking. The end is exclusive: a sign exactly this old
  /// no longer counts. 60 s are two to four of the reports that a client sends every 15 to 30 s while it shows the
  /// conversation.
  public let window: Duration
  /// The oldest a message may be when its push goes out, without the time it was held on purpose; inclusive. An hour covers
  /// an outage that an operator repairs, and keeps a backlog of yesterday from ringing every phone.
  public let timeToLive: Duration

  /// In the order of their precedence; made once, because a decision is asked for every recipient.
  private static let rules = Rule.allCases

  /// A policy; neither limit may be negative.
  public init(window: Duration = .seconds(60), timeToLive: Duration = .seconds(3600)) {
    precondition(window >= .zero && timeToLive >= .zero, "a negative window or time to live means nothing")
    self.window = window
    self.timeToLive = timeToLive
  }

  /// Whether one recipient's push goes out, waits, or never comes: the word of the first ``Rule`` that applies, else `send`.
  ///
  /// Asked when a message arrives, whenever a hold ends or new facts arrive, and right before the send. The answer depends
  /// only on the arguments. Without a sign of presence the push goes out, because a lost message is worse than a needless
  /// one.
  public func decision(for situation: RecipientSituation) -> PushDecision {
    for rule in Self.rules {
      if let decision = rule.decision(for: situation, by: self) { return decision }
    }
    return .send
  }
}
