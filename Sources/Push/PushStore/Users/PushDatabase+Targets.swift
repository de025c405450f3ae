package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

// Browsers and Android apps, as they register.
extension PushDatabase {
  /// Gives a target to a user, and takes it from any other.
  /// - Parameter targetsMax: targets of the channel that the user keeps, the last registered ones; at least 1.
  /// - Returns: ``RegistrationOutcome/ended`` for a browser's subscription that its push service has called gone, or that was made
  ///   with another key of this service: neither comes back.
  package func register(
    _ target: RegisteredTarget, of user: HostID, targetsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> RegistrationOutcome {
    let call = StatementCall.registerTarget(
      userID: user, channel: target.target.channel.rawValue, address: target.target.address, app: target.target.app,
      keys: target.wishes.added(to: target.target.keys), locale: target.locale, timeZone: target.timeZone,
      fetchDigest: target.fetchDigest,
      expiresMicroseconds: target.expiresAt, targetsMax: targetsMax)
    let row = try await pool.query(call, on: reactor).one()
    guard try !row.decode("is_ended") else { return .ended }
    return try row.decode("knows_zone") ? .registered : .registeredWithoutZone
  }

  /// Registers the subscription by which a browser has replaced one, for the same user.
  /// - Parameter fetchDigest: of the token of the replaced one's worker.
  /// - Returns: false for an unknown browser.
  package func renew(
    _ target: RegisteredTarget, replacing fetchDigest: String, targetsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let call = StatementCall.renewTarget(
      fetchDigest: fetchDigest, address: target.target.address, keys: target.target.keys,
      nextDigest: target.fetchDigest, expiresMicroseconds: target.expiresAt, targetsMax: targetsMax)
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Ends a user's session on a target. Another user's stays.
  package func remove(
    _ target: PushTarget, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    _ = try await pool.query(
      .removeTarget(userID: user, channel: target.channel.rawValue, address: target.address), on: reactor)
  }

  /// The newest push to the user of a browser that shows something, if there is one.
  /// - Parameter fetchDigest: of the token of the browser's worker.
  package func latestPush(
    fetchDigest: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (isKnown: Bool, push: LatestPush?) {
    guard let row = try await pool.query(.latestPush(fetchDigest: fetchDigest), on: reactor).first else {
      return (false, nil)
    }
    guard let kind: String = try row.decode("kind") else { return (true, nil) }
    let claimed = ClaimedContent(
      surfaceID: try row.decode("surface_id"), senderName: try row.decode("sender_name"), text: try row.decode("body"),
      document: try row.decode("content"))
    let content = KnownKinds.content(claimed, of: try row.decode("push_kind"))
    let enqueuedAt: PostgresTimestamp = try row.decode("enqueued_at")
    let badge: Int64? = try row.decode("badge")
    let locale: String? = try row.decode("locale")
    let push = LatestPush(
      subject: PushSubject(id: try row.decode("subject_id"), kind: kind),
      userID: try row.decode("user_id"), enqueuedAt: try enqueuedAt.finite(),
      content: content.suited(to: locale.flatMap { LocaleTag($0) }),
      badge: badge.map { min(max(0, Int(clamping: $0)), badgeMax) })
    return (true, push)
  }

  /// Records pushes as opened that the worker of a browser reports.
  /// - Returns: the browser's user; nil for an unknown browser.
  package func recordOpenings(
    _ logIDs: [UUID], fetchDigest: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostID? {
    let rows = try await pool.query(.recordWorkerOpenings(fetchDigest: fetchDigest, logIDs: logIDs), on: reactor)
    return try rows.first?.decode(0)
  }
}

/// What an app says of a browser or an Android device. What is nil stays as it was known.
package struct RegisteredTarget: Equatable, Sendable {
  package let target: PushTarget

  /// A BCP 47 language tag.
  package var locale: String?

  /// An IANA time zone.
  package var timeZone: String?

  /// What pushes may say on it: `full`, `sender`, `none` or `sealed`.
  package var content: String?

  /// The public key for which they are sealed, in base64url.
  package var sealingKey: String?

  /// SHA-256 of the token by which a worker asks for the newest push, in hexadecimal.
  package var fetchDigest: String?

  /// When it ends, microseconds since 1970; nil for never.
  package var expiresAt: Int64?

  package init(_ target: PushTarget) { self.target = target }
}

/// A push that a browser asks for because it got one without content.
package struct LatestPush: Sendable {
  package let subject: PushSubject

  package let userID: HostID

  /// When its event was committed, microseconds since 1970.
  package let enqueuedAt: Int64

  /// What it says, in the browser's locale.
  package let content: any PushContent

  /// The user's unread messages; nil when they are not counted.
  package let badge: Int?
}
