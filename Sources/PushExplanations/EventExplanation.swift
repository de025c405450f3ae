/// Why an event's pushes were sent or not: what the ledger keeps, in words and in order.
public struct EventExplanation: Equatable, Sendable {
  /// One recipient's part.
  public struct Recipient: Equatable, Sendable {
    /// The host's user id, in small letters.
    public let userID: String
    /// One plain sentence: what became of the push, and why.
    public let summary: String
    /// What happened, the earliest first.
    public let steps: [Step]
  }

  /// One thing that happened.
  public struct Step: Equatable, Sendable {
    /// When, by the database's clock; microseconds since 1970.
    public let at: Int64
    /// What.
    public let text: String
    /// What was known or answered then: names and values for people, in order.
    public let details: [Detail]
  }

  /// A name and a value for people.
  public struct Detail: Equatable, Sendable {
    /// What it is.
    public let name: String
    /// What it was.
    public let value: String
  }

  /// The subject's id, in small letters.
  public let subjectID: String
  /// The subject's kind.
  public let kind: String
  /// One plain sentence about the event as a whole.
  public let summary: String
  /// When it was committed, by the database's clock; microseconds since 1970. Nil when it is not known any more.
  public let committedAt: Int64?
  /// Sorted by user id.
  public let recipients: [Recipient]
}
