public import Foundation

// Live Activities: the tokens by which the service starts and updates them.
extension PushServiceClient {
  /// Registers the token by which the service starts Live Activities of a type on a device (iOS 17.2). ``ActivityTokens``
  /// calls it as tokens change.
  /// - Parameters:
  ///   - type: the name of the attributes in Swift, such as `WorkoutActivityAttributes`.
  ///   - environment: of the token; nil for the service's default.
  ///   - app: the bundle identifier; nil for the service's default.
  public func registerStartToken(
    _ token: Data, of type: String, deviceToken: Data, environment: DeviceRegistration.Environment? = nil,
    app: String? = Bundle.main.bundleIdentifier
  ) async throws(PushServiceError) {
    let content = ActivityToken(token: token, deviceToken: nil, environment: environment, app: app)
    _ = try await send("PUT", Self.startPath(type, deviceToken), JSONEncoder().content(content))
  }

  /// Ends starts of a type on a device.
  public func removeStartToken(of type: String, deviceToken: Data) async throws(PushServiceError) {
    _ = try await send("DELETE", Self.startPath(type, deviceToken))
  }

  /// Registers the token by which the service updates and ends a Live Activity.
  /// - Parameter id: the service's id of it, 1 to 128 visible ASCII characters.
  public func registerUpdateToken(
    _ token: Data, ofActivity id: String, deviceToken: Data?, environment: DeviceRegistration.Environment? = nil,
    app: String? = Bundle.main.bundleIdentifier
  ) async throws(PushServiceError) {
    let content = ActivityToken(token: token, deviceToken: deviceToken, environment: environment, app: app)
    _ = try await send("PUT", ["v1", "live-activities", id, "token"], JSONEncoder().content(content))
  }

  /// Announces a Live Activity that the app has started itself. Call it before its token is registered.
  /// - Parameters:
  ///   - id: chosen by the app, 1 to 128 visible ASCII characters.
  ///   - type: the name of the attributes in Swift.
  ///   - attributes: the fields of the type; dates are sent as RFC 3339 text.
  ///   - state: its first state, likewise.
  public func announceActivity(
    _ id: String, of type: String, attributes: some Encodable, state: some Encodable
  ) async throws(PushServiceError) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let announcement = ActivityAnnouncement(type: type, attributes: attributes, state: state)
    guard let content = try? encoder.encode(announcement) else { throw PushServiceError(.refused) }
    _ = try await send("PUT", ["v1", "live-activities", id], content)
  }

  private static func startPath(_ type: String, _ deviceToken: Data) -> [String] {
    ["v1", "devices", DeviceRegistration.text(of: deviceToken), "push-to-start", type]
  }
}

/// The content of a call that registers a token.
private struct ActivityToken: Encodable {
  let token: String
  let deviceToken: String?
  let environment: DeviceRegistration.Environment?
  let app: String?

  init(token: Data, deviceToken: Data?, environment: DeviceRegistration.Environment?, app: String?) {
    self.token = DeviceRegistration.text(of: token)
    self.deviceToken = deviceToken.map(DeviceRegistration.text)
    self.environment = environment
    self.app = app
  }

  private enum CodingKeys: String, CodingKey {
    case token, environment, app
    case deviceToken = "device_token"
  }
}

/// The content of an announcement.
private struct ActivityAnnouncement<Attributes: Encodable, State: Encodable>: Encodable {
  let type: String
  let attributes: Attributes
  let state: State
}
