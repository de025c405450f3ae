package import Postgres
package import PushRules
package import Reactors

package struct UserPreferences: Equatable, Sendable {
  /// A span of every local day.
  package struct QuietHours: Equatable, Sendable {
    /// Minutes since midnight, below 1440; belongs to the span.
    package let start: Int
    /// Minutes since midnight, below 1440, of the next day when not after ``start``, from which it must differ; does not
    /// belong to the span.
    package let end: Int
    /// An IANA name; nil for that in which the user lives.
    package let timeZone: String?
    package let policy: QuietHoursPolicy

    package init(start: Int, end: Int, timeZone: String?, policy: QuietHoursPolicy) {
      self.start = start
      self.end = end
      self.timeZone = timeZone
      self.policy = policy
    }
  }

  /// What a user wants of one conversation.
  package struct Conversation: Equatable, Sendable {
    package let id: HostID
    package let isMuted: Bool
    /// When a mute ends, in microseconds since 1970; nil for a mute that does not.
    package let mutedUntil: Int64?
    package let mentionsOnly: Bool

    package init(id: HostID, isMuted: Bool, mutedUntil: Int64?, mentionsOnly: Bool) {
      self.id = id
      self.isMuted = isMuted
      self.mutedUntil = mutedUntil
      self.mentionsOnly = mentionsOnly
    }
  }

  package var quietHours: QuietHours?
  /// Kinds of events of which no push is wanted, each once.
  package var disabledKinds: [String]
  /// What pushes may say on all devices; nil for no choice.
  package var content: ContentChoice?
  /// Conversations of which something else is wanted than usual, each once; in the order of their ids when read.
  package var conversations: [Conversation]

  /// After how many seconds the host learns that a push of a kind is unread; 0 for never. Kinds that are not here have the host's
  /// own rule.
  package var unreadAfter: [String: Int]

  /// Preferences; the defaults are those of a user who never said anything.
  package init(
    quietHours: QuietHours? = nil, content: ContentChoice? = nil, disabledKinds: [String] = [],
    conversations: [Conversation] = [], unreadAfter: [String: Int] = [:]
  ) {
    self.quietHours = quietHours
    self.content = content
    self.unreadAfter = unreadAfter
    self.disabledKinds = disabledKinds
    self.conversations = conversations
  }
}

// What users want.
extension PushDatabase {
  /// A user's preferences, or the defaults.
  package func preferences(
    of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> UserPreferences {
    let row = try await pool.query(.preferences(userID: user), on: reactor).one()
    let content: String? = try row.decode("content")
    return UserPreferences(
      quietHours: try Self.quietHours(of: row), content: content.flatMap(ContentChoice.init),
      disabledKinds: try row.decode("disabled_kinds"),
      conversations: try Self.conversations(of: row), unreadAfter: try Self.unreadAfter(of: row))
  }

  /// Replaces a user's preferences. Pushes that the user is held are looked at again.
  /// - Returns: false for an unknown time zone; nothing is changed then.
  package func put(
    _ preferences: UserPreferences, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let quiet = preferences.quietHours
    let conversations = preferences.conversations
    let kinds = preferences.unreadAfter.keys.sorted()
    let call = StatementCall.putPreferences(
      userID: user, quietStart: quiet?.start, quietEnd: quiet?.end, quietZone: quiet?.timeZone,
      quietPolicy: quiet?.policy.rawValue, disabledKinds: preferences.disabledKinds,
      conversationIDs: conversations.map(\.id), muted: conversations.map(\.isMuted),
      mutedUntilMicroseconds: conversations.map(\.mutedUntil), mentionsOnly: conversations.map(\.mentionsOnly),
      content: preferences.content?.rawValue, unreadKinds: kinds,
      unreadSeconds: kinds.map { Self.stored(preferences.unreadAfter[$0]) })
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Nil, which the database has for never, instead of 0.
  private static func stored(_ seconds: Int?) -> Int64? { seconds == 0 ? nil : seconds.map(Int64.init) }

  private static func unreadAfter(of row: PostgresRow) throws(PostgresError) -> [String: Int] {
    let kinds: [String] = try row.decode("unread_kinds")
    let seconds: [Int64?] = try row.decode("unread_seconds")
    return Dictionary(zip(kinds, seconds.map { Int($0 ?? 0) })) { $1 }
  }

  private static func quietHours(of row: PostgresRow) throws(PostgresError) -> UserPreferences.QuietHours? {
    guard let start: Int = try row.decode("quiet_start"), let end: Int = try row.decode("quiet_end") else { return nil }
    let policy: String? = try row.decode("quiet_policy")
    return UserPreferences.QuietHours(
      start: start, end: end, timeZone: try row.decode("quiet_zone"),
      policy: policy.flatMap(QuietHoursPolicy.init) ?? .hold)
  }

  private static func conversations(of row: PostgresRow) throws(PostgresError) -> [UserPreferences.Conversation] {
    let ids: [HostID] = try row.decode("ids")
    let muted: [Bool] = try row.decode("muted")
    let mutedUntil: [Int64?] = try row.decode("muted_until")
    let mentionsOnly: [Bool] = try row.decode("mentions_only")
    return ids.indices.map {
      UserPreferences.Conversation(
        id: ids[$0], isMuted: muted[$0], mutedUntil: mutedUntil[$0], mentionsOnly: mentionsOnly[$0])
    }
  }
}
