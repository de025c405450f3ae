public import FoundationEssentials
public import Postgres
internal import PushRules
public import Reactors

// What users want.
extension PushDatabase {
  /// A user's preferences; the defaults when there are none.
  public func preferences(
    of user: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> UserPreferences {
    let row = try await pool.query(.preferences(userID: user), on: reactor).one()
    return UserPreferences(
      quietHours: try Self.quietHours(of: row), disabledKinds: try row.decode("disabled_kinds"),
      conversations: try Self.conversations(of: row))
  }

  /// Replaces a user's preferences. Pushes that the user is held are looked at again.
  /// - Returns: false when the time zone is none; nothing was changed then.
  public func put(
    _ preferences: UserPreferences, of user: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let quiet = preferences.quietHours
    let conversations = preferences.conversations
    let call = StatementCall.putPreferences(
      userID: user, quietStart: quiet?.start, quietEnd: quiet?.end, quietZone: quiet?.timeZone,
      quietPolicy: quiet?.policy.rawValue, disabledKinds: preferences.disabledKinds,
      conversationIDs: conversations.map(\.id), muted: conversations.map(\.isMuted),
      mutedUntilMicroseconds: conversations.map(\.mutedUntil), mentionsOnly: conversations.map(\.mentionsOnly))
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  private static func quietHours(of row: PostgresRow) throws(PostgresError) -> UserPreferences.QuietHours? {
    guard let start: Int = try row.decode("quiet_start"), let end: Int = try row.decode("quiet_end") else { return nil }
    let policy: String? = try row.decode("quiet_policy")
    return UserPreferences.QuietHours(
      start: start, end: end, timeZone: try row.decode("quiet_zone"),
      policy: policy.flatMap(QuietHoursPolicy.init) ?? .hold)
  }

  private static func conversations(of row: PostgresRow) throws(PostgresError) -> [UserPreferences.Conversation] {
    let ids: [UUID] = try row.decode("ids")
    let muted: [Bool] = try row.decode("muted")
    let mutedUntil: [Int64?] = try row.decode("muted_until")
    let mentionsOnly: [Bool] = try row.decode("mentions_only")
    return ids.indices.map {
      UserPreferences.Conversation(
        id: ids[$0], isMuted: muted[$0], mutedUntil: mutedUntil[$0], mentionsOnly: mentionsOnly[$0])
    }
  }
}
