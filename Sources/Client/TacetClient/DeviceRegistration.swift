public import Foundation

/// A device that pushes can go to.
public struct DeviceRegistration: Hashable, Sendable, Encodable {
  /// Which of Apple's push services the token is for.
  public enum Environment: String, Sendable, Encodable {
    /// Apps from the App Store and TestFlight.
    case production
    /// Apps that Xcode has installed.
    case sandbox
  }

  /// The device token as hexadecimal text.
  public let token: String

  /// nil leaves it to the service's default.
  public var environment: Environment?

  /// The app's bundle identifier; nil leaves it to the service's default.
  public var app: String?

  /// `ios`, `macos` and so on; nil is `ios`.
  public var platform: String?

  /// The language and region of the user (BCP 47).
  public var locale: String?

  /// The IANA name of the user's time zone, for quiet hours.
  public var timeZone: String?

  /// A device as it describes itself, but for what cannot be known without the app.
  /// - Parameter deviceToken: as `didRegisterForRemoteNotificationsWithDeviceToken` hands it over.
  public init(
    deviceToken: Data, environment: Environment? = nil, app: String? = Bundle.main.bundleIdentifier,
    platform: String? = Self.ownPlatform, locale: String? = Locale.current.identifier(.bcp47),
    timeZone: String? = TimeZone.current.identifier
  ) {
    token = Self.text(of: deviceToken)
    self.environment = environment
    self.app = app
    self.platform = platform
    self.locale = locale
    self.timeZone = timeZone
  }

  /// The form in which the service knows a device token.
  static func text(of deviceToken: Data) -> String {
    deviceToken.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The platform this is built for, in the service's words; nil on one that gets no pushes from Apple.
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
    case environment, app, platform, locale
    case timeZone = "time_zone"
  }
}
