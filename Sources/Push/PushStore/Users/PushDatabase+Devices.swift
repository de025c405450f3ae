internal import FoundationEssentials
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
    let call = StatementCall.registerDevice(
      userID: user, deviceToken: device.token, environment: device.environment, app: device.app,
      platform: device.platform, locale: device.locale, timeZone: device.timeZone,
      authStatus: device.authorization, wishes: device.wishes.json, devicesMax: devicesMax)
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
  package let token: String

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
