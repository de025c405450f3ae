package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

// Device tokens, as their apps register them.
extension PushDatabase {
  /// Gives a device token to a user, and takes it from any other.
  /// - Parameter devicesMax: devices that the user keeps, the last registered ones; at least 1.
  package func register(
    _ device: RegisteredDevice, of user: HostID, devicesMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> RegistrationOutcome {
    let wishes = RegisteredWishes(content: device.content, sealingKey: device.sealingKey, locale: device.locale)
    let call = StatementCall.registerDevice(
      userID: user, deviceToken: device.token, environment: device.environment, app: device.app,
      platform: device.platform, locale: device.locale, timeZone: device.timeZone,
      authStatus: device.authorization, wishes: wishes.json, devicesMax: devicesMax)
    do throws(PostgresError) {
      return try await pool.query(call, on: reactor).one().decode(0) ? .registered : .registeredWithoutZone
    } catch {
      guard error.sqlState == .foreignKeyViolation else { throw error }
      return .unknownUser
    }
  }

  /// Ends a user's session on a device.
  /// - Parameter token: hexadecimal, in lower case.
  /// - Returns: false when the token is another user's, who keeps it; true also for an unknown token.
  package func removeDevice(
    _ token: String, of user: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(.removeDevice(userID: user, deviceToken: token), on: reactor).one().decode(0)
  }
}

/// What an app says of the device it runs on. What is nil stays as it was known of the token.
package struct RegisteredDevice: Equatable, Sendable {
  /// The address of the app on the device: hexadecimal, in lower case.
  package var token: String

  /// Where the token works: `production` or `sandbox`.
  package var environment: String?

  /// The app's bundle identifier.
  package var app: String?

  /// The system, e.g. `ios`; a new device is taken for one of these unless it says otherwise.
  package var platform: String?

  /// A BCP 47 language tag, e.g. `de-CH`.
  package var locale: String?

  /// An IANA time zone, e.g. `Europe/Berlin`.
  package var timeZone: String?

  /// What the app may show: `authorized`, `provisional`, `denied` or `not_determined`. A denied device gets no slots.
  package var authorization: String?

  /// What pushes may say on it: `full`, `sender`, `none` or `sealed`.
  package var content: String?

  /// The public key for which they are sealed, in base64url.
  package var sealingKey: String?

  package init(token: String) {
    self.token = token
  }
}

package enum RegistrationOutcome: Equatable, Sendable {
  /// The token is the user's, and no other's.
  case registered
  /// The same, without its time zone, which PostgreSQL does not know.
  case registeredWithoutZone
  /// The push service has ended the subscription for good; nothing was changed.
  case ended
  /// The host does not know the user; nothing was changed.
  case unknownUser
}

// Browsers and Android apps, as they register.
extension PushDatabase {
  /// Gives a target to a user, and takes it from any other.
  /// - Parameter targetsMax: targets of the channel that the user keeps, the last registered ones; at least 1.
  /// - Returns: ``RegistrationOutcome/ended`` for a browser's subscription that its push service has called gone, or that was made
  ///   with another key of this service: neither comes back.
  package func register(
    _ target: RegisteredTarget, of user: HostID, targetsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> RegistrationOutcome {
    let wishes = RegisteredWishes(content: target.content, sealingKey: target.sealingKey, locale: target.locale)
    let call = StatementCall.registerTarget(
      userID: user, channel: target.target.channel.rawValue, address: target.target.address, app: target.target.app,
      keys: wishes.added(to: target.target.keys), locale: target.locale, timeZone: target.timeZone,
      fetchDigest: target.fetchDigest, expiresMicroseconds: target.expiresAt, targetsMax: targetsMax)
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

  /// A user's devices, at most 50.
  package func targets(of user: HostID, on reactor: isolated Reactor) async throws(PostgresError) -> [PushTarget] {
    try await pool.query(.targetsOfUser(userID: user), on: reactor).map { row throws(PostgresError) in
      PushTarget(
        DeliveryChannel(rawValue: try row.decode("channel")), address: try row.decode("address"),
        environment: try row.decode("environment"), app: try row.decode("app"), keys: try row.decode("keys"))
    }
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
    let locale: String? = try row.decode("locale")
    let push = LatestPush(
      subject: PushSubject(id: try row.decode("subject_id"), kind: kind),
      userID: try row.decode("user_id"), enqueuedAt: try enqueuedAt.finite(),
      content: content.suited(to: locale.flatMap { LocaleTag($0) }),
      badge: try row.decode("badge", as: Int64?.self).map(badge))
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

/// What a registration says of content and language, as `PushTarget.keys` brings it back with every claim.
struct RegisteredWishes {
  private let members: PayloadObject

  init(content: String?, sealingKey: String?, locale: String?) {
    var members: PayloadObject = [:]
    members["content"] = content.map { .string($0) }
    members["sealing_key"] = sealingKey.map { .string($0) }
    members["locale"] = locale.map { .string($0) }
    self.members = members
  }

  /// A JSON object; empty for a registration that says nothing of it.
  var json: String { String(decoding: members.encoded(), as: UTF8.self) }

  /// A channel's keys with these members; nil when there are neither.
  func added(to keys: String?) -> String? {
    guard !members.members.isEmpty else { return keys }
    var all = keys.flatMap { try? JSONDecoder().decode(PayloadObject.self, from: Data($0.utf8)) } ?? [:]
    for (name, value) in members.members { all[name] = value }
    return String(decoding: all.encoded(), as: UTF8.self)
  }
}
