public import Foundation

/// A device that receives pushes.
public struct DeviceRegistration: Hashable, Sendable, Encodable {
  /// The push service of Apple that issued the token.
  public enum Environment: String, Sendable, Encodable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that Xcode has installed.
    case sandbox
  }

  /// What the system lets the app show. `UNAuthorizationStatus` of UserNotifications, in the service's words.
  public enum Authorization: String, Sendable, Encodable {
    /// Notifications.
    case authorized
    /// Notifications in the list alone.
    case provisional
    /// Nothing. The service sends no slots until another status is registered.
    case denied
    /// The user has not been asked.
    case notDetermined = "not_determined"
  }

  /// What pushes may say on a device. The strictest choice of the service, the app and the user applies.
  public enum Content: String, Sendable, Encodable {
    /// Everything.
    case full
    /// The sender's name.
    case sender
    /// That there is something, and ids.
    case none
    /// Everything, encrypted for the device; see ``ContentSeal``.
    case sealed
  }

  /// The device token as hexadecimal text.
  public let token: String

  /// The token's environment; nil for the service's default.
  public var environment: Environment?
  /// The app's bundle identifier; nil for the service's default.
  public var app: String?
  /// `ios`, `macos` and so on; nil is `ios`.
  public var platform: String?
  /// The language and region of the user (BCP 47).
  public var locale: String?
  /// The IANA name of the user's time zone, for quiet hours.
  public var timeZone: String?
  /// What the app may show; nil changes nothing.
  public var authorization: Authorization?
  /// What the user wants pushes to say on this device; nil changes nothing.
  public var content: Content?
  /// The public key for which the service seals pushes, of ``ContentSeal/registrationKey(for:rotates:)``; nil changes nothing.
  public var sealingKey: String?

  /// This device, with its own platform, locale and time zone.
  /// - Parameter deviceToken: the argument of `didRegisterForRemoteNotificationsWithDeviceToken`.
  public init(
    deviceToken: Data, environment: Environment? = nil, app: String? = Bundle.main.bundleIdentifier,
    platform: String? = Self.ownPlatform, locale: String? = Locale.current.identifier(.bcp47),
    timeZone: String? = TimeZone.current.identifier, authorization: Authorization? = nil
  ) {
    token = Self.text(of: deviceToken)
    self.environment = environment
    self.app = app
    self.platform = platform
    self.locale = locale
    self.timeZone = timeZone
    self.authorization = authorization
  }

  /// A device token in lower-case hexadecimal.
  static func text(of deviceToken: Data) -> String {
    deviceToken.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The device token of hexadecimal text; nil for another text.
  static func token(of text: String) -> Data? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  /// The platform of this build, in the service's words; nil without pushes from Apple.
  public static var ownPlatform: String? {
    #if os(iOS)
    "ios"
    #elseif os(macOS)
    "macos"
    #elseif os(watchOS)
    "watchos"
    #elseif os(tvOS)
    "tvos"
    #elseif os(visionOS)
    "visionos"
    #else
    nil
    #endif
  }

  private enum CodingKeys: String, CodingKey {
    case environment, app, platform, locale, authorization, content
    case timeZone = "time_zone"
    case sealingKey = "sealing_key"
  }
}
