/// The limits of the suppression rule, and the rule itself.
public struct SuppressionPolicy: Equatable, Sendable {
  /// How long after a sign of presence somebody is taken to be still looking. The end is exclusive: a sign exactly this
  /// old counts no more. 60 s are two to four of the reports that a client sends every 15 to 30 s while it shows the
  /// conversation.
  public let window: Duration
  /// The oldest a message may be when its push goes out, not counting the time it was held on purpose; inclusive. An
  /// hour covers an outage that somebody repairs, and keeps a backlog of yesterday from ringing everybody's phone.
  public let timeToLive: Duration

  /// A policy; neither limit may be negative.
  public init(window: Duration = .seconds(60), timeToLive: Duration = .seconds(3600)) {
    precondition(window >= .zero && timeToLive >= .zero, "a negative window or time to live means nothing")
    self.window = window
    self.timeToLive = timeToLive
  }
}
