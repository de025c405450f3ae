/// The way a push takes: the app it is for, and the APNs environment that issued the device's token.
///
/// Credentials, faults of configuration and outages belong to a route rather than to a push.
public struct PushRoute: Hashable, Sendable {
  /// The app that the device token was issued to.
  public let app: BundleIdentifier
  /// Where the token works.
  public let environment: APNSEnvironment

  /// Names a route.
  public init(app: BundleIdentifier, environment: APNSEnvironment) {
    self.app = app
    self.environment = environment
  }

  /// The route's name in the database and in logs, such as `com.example.app/production`.
  public var name: String { "\(app.text)/\(environment.rawValue)" }
}
