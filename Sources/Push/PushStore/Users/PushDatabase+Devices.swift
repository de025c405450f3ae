public import FoundationEssentials
public import Postgres
public import Reactors

// Device tokens, as their apps register them.
extension PushDatabase {
  /// Makes a device token a user's and takes it from whoever had it.
  /// - Parameter devicesMax: devices that the user keeps, the last registered ones; at least 1.
  public func register(
    _ device: DeviceRegistration, of user: UUID, devicesMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> RegistrationOutcome {
    let call = StatementCall.registerDevice(
      userID: user, deviceToken: device.token, environment: device.environment, app: device.app,
      platform: device.platform, locale: device.locale, timeZone: device.timeZone, devicesMax: devicesMax)
    do throws(PostgresError) {
      return try await pool.query(call, on: reactor).one().decode(0) ? .registered : .unknownTimeZone
    } catch {
      guard error.sqlState == .foreignKeyViolation else { throw error }
      return .unknownUser
    }
  }

  /// Ends a user's session on a device.
  /// - Parameter token: hexadecimal, in lower case.
  /// - Returns: false when the token is another user's, who keeps it; true also when nobody has it.
  public func removeDevice(
    _ token: String, of user: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(.removeDevice(userID: user, deviceToken: token), on: reactor).one().decode(0)
  }
}
