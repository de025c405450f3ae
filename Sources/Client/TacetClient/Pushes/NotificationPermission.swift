/// What an app asks the user to allow. `UNAuthorizationOptions` of UserNotifications.
public struct AuthorizationOptions: OptionSet, Hashable, Sendable {
  /// The bits of the members.
  public let rawValue: Int

  /// Joins members by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Words on the screen.
  public static let alert = Self(rawValue: 1)
  /// A number on the app's icon.
  public static let badge = Self(rawValue: 2)
  /// Sounds.
  public static let sound = Self(rawValue: 4)
  /// Quiet delivery to the list without a question. The user decides later, on the first notification.
  public static let provisional = Self(rawValue: 8)
  /// A button in the system's settings that opens the app's own.
  public static let providesAppNotificationSettings = Self(rawValue: 16)

  /// All of them.
  public static let standard: Self = [.alert, .badge, .sound, .provisional, .providesAppNotificationSettings]
}

/// Where permission is asked for: `UNUserNotificationCenter`, or a test's user.
public protocol AuthorizationCenter: Sendable {
  /// What the app may show now.
  func authorization() async -> DeviceRegistration.Authorization

  /// Asks the user, unless the user has decided. Errors count as a refusal.
  func request(_ options: AuthorizationOptions) async
}

/// The user's permission to show notifications, reported to the service with the device's registration.
public struct NotificationPermission: Sendable {
  private let client: PushServiceClient
  private let center: any AuthorizationCenter

  /// Makes it without a question to the user.
  public init(_ client: PushServiceClient, center: any AuthorizationCenter) {
    self.client = client
    self.center = center
  }

  /// Registers the device with what the app may show. It asks no question; call it at each start of the app.
  /// - Returns: what the app may show.
  @discardableResult
  public func register(
    _ device: DeviceRegistration
  ) async throws(PushServiceError) -> DeviceRegistration.Authorization {
    var device = device
    let status = await center.authorization()
    device.authorization = status
    try await client.register(device)
    return status
  }

  /// Asks the user, and registers the device with the answer. Call it after the user has switched on something that
  /// notifies, never at the start of the app: a refusal is final.
  /// - Parameters:
  ///   - device: nil while the app has no device token; then the next registration reports the answer.
  ///   - options: without `provisional` the system shows its question at once.
  /// - Returns: what the app may show.
  @discardableResult
  public func ask(
    registering device: DeviceRegistration?, _ options: AuthorizationOptions = .standard
  ) async throws(PushServiceError) -> DeviceRegistration.Authorization {
    let status = await center.authorization()
    if status == .notDetermined || status == .provisional && !options.contains(.provisional) {
      await center.request(options)
    }
    guard let device else { return await center.authorization() }
    return try await register(device)
  }
}
