/// What an app says of the device it runs on. What is nil stays as it was known of the token.
public struct DeviceRegistration: Equatable, Sendable {
  /// The address of the app on the device: hexadecimal, in lower case.
  public let token: String

  /// Where the token works: `production` or `sandbox`.
  public var environment: String?

  /// The app's bundle identifier.
  public var app: String?

  /// The system, e.g. `ios`; a new device is taken for one of these unless it says otherwise.
  public var platform: String?

  /// A BCP 47 language tag, e.g. `de-CH`.
  public var locale: String?

  /// An IANA time zone, e.g. `Europe/Berlin`.
  public var timeZone: String?

  /// A device of which nothing is said but its token.
  public init(token: String) {
    self.token = token
  }
}

/// What became of a registration.
public enum RegistrationOutcome: Equatable, Sendable {
  /// The token is the user's, and no other's.
  case registered
  /// PostgreSQL does not know the time zone; nothing was changed.
  case unknownTimeZone
  /// The host does not know the user; nothing was changed.
  case unknownUser
}
