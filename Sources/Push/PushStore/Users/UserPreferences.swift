public import FoundationEssentials
public import PushRules

/// What a user wants of pushes.
public struct UserPreferences: Equatable, Sendable {
  /// A span of every local day.
  public struct QuietHours: Equatable, Sendable {
    /// Minutes since midnight, below 1440; belongs to the span.
    public let start: Int
    /// Minutes since midnight, below 1440, of the next day when not after ``start``, from which it must differ; does not
    /// belong to the span.
    public let end: Int
    /// An IANA name; nil for that of the user's newest device.
    public let timeZone: String?
    /// What becomes of a push within the span.
    public let policy: QuietHoursPolicy

    /// A span.
    public init(start: Int, end: Int, timeZone: String?, policy: QuietHoursPolicy) {
      self.start = start
      self.end = end
      self.timeZone = timeZone
      self.policy = policy
    }
  }

  /// What a user wants of one conversation.
  public struct Conversation: Equatable, Sendable {
    /// The host's id of it.
    public let id: UUID
    /// Whether its pushes are not wanted.
    public let isMuted: Bool
    /// When a mute ends, in microseconds since 1970; nil for a mute that does not.
    public let mutedUntil: Int64?
    /// Whether only messages that mention the user are wanted.
    public let mentionsOnly: Bool

    /// Wishes about a conversation.
    public init(id: UUID, isMuted: Bool, mutedUntil: Int64?, mentionsOnly: Bool) {
      self.id = id
      self.isMuted = isMuted
      self.mutedUntil = mutedUntil
      self.mentionsOnly = mentionsOnly
    }
  }

  /// Nil when the user wants none.
  public var quietHours: QuietHours?
  /// Kinds of events of which no push is wanted, each once.
  public var disabledKinds: [String]
  /// Conversations of which something else is wanted than usual, each once; in the order of their ids when read.
  public var conversations: [Conversation]

  /// Preferences; the defaults are those of a user who never said anything.
  public init(quietHours: QuietHours? = nil, disabledKinds: [String] = [], conversations: [Conversation] = []) {
    self.quietHours = quietHours
    self.disabledKinds = disabledKinds
    self.conversations = conversations
  }
}
