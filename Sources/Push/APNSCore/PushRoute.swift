/// The way a push takes: the app it is for, the APNs environment that issued the device's token or the channel, and the
/// service that takes it.
///
/// Credentials, faults of configuration and outages belong to a route rather than to a push.
public struct PushRoute: Hashable, Sendable {
  /// The app that the device token or the channel was issued to.
  public let app: BundleIdentifier
  /// Where the token or the channel works.
  public let environment: APNSEnvironment
  /// The part of APNs that takes the push.
  public let service: APNSService

  /// Names a route.
  public init(app: BundleIdentifier, environment: APNSEnvironment, service: APNSService = .devices) {
    self.app = app
    self.environment = environment
    self.service = service
  }

  /// The route's name in the database and in logs, such as `com.example.app/production`, or
  /// `com.example.app/production/broadcasts`.
  public var name: String {
    let name = "\(app.text)/\(environment.rawValue)"
    return service == .devices ? name : "\(name)/\(service.rawValue)"
  }

  /// The label of metrics by which the service is told from the usual one; none for devices.
  public var serviceLabels: [(String, String)] { service == .devices ? [] : [("service", service.rawValue)] }
}

/// One of the two parts of APNs that take pushes, each with requests, limits and reasons of its own.
public enum APNSService: String, CaseIterable, Sendable {
  /// Takes pushes to single devices.
  case devices
  /// Takes pushes to channels, which bring one state to every Live Activity that follows the channel.
  case broadcasts
}

/// One of Apple's two separate push services. A device token works only in the one that issued it.
public enum APNSEnvironment: String, CaseIterable, Sendable {
  /// For apps from the App Store, TestFlight and ad hoc distribution.
  case production
  /// For apps that Xcode installed, whose entitlement says `development`.
  case sandbox

  /// Apple's host for pushes to devices. Port 443, or 2197 for firewalls that block it.
  public var hostName: String {
    switch self {
    case .production: "api.push.apple.com"
    case .sandbox: "api.sandbox.push.apple.com"
    }
  }

  /// Apple's host for the management of channels.
  public var channelsHostName: String {
    switch self {
    case .production: "api-manage-broadcast.push.apple.com"
    case .sandbox: "api-manage-broadcast.sandbox.push.apple.com"
    }
  }

  /// The port of ``channelsHostName``.
  public var channelsPort: UInt16 {
    switch self {
    case .production: 2196
    case .sandbox: 2195
    }
  }
}

/// The identifier of an app in the App Store, from which every `apns-topic` is built.
public struct BundleIdentifier: Hashable, Sendable {
  /// The longest identifier in bytes: the limit of Apple's developer site.
  public static let bytesMax = 255

  /// The identifier as given; letters, digits, dots and hyphens, case kept.
  public let text: String

  /// Takes an identifier such as `com.example.app`.
  ///
  /// - Throws: `bundleIdentifierMalformed` when it is empty, too long or holds other characters. Source:
  ///   `CFBundleIdentifier` in Apple's information property list reference.
  public init(_ text: String) throws(PushRequestError) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else {
      throw PushRequestError(
        .bundleIdentifierMalformed, "\(text.utf8.count) bytes long; 1 to \(Self.bytesMax) are allowed")
    }
    guard text.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) else {
      throw PushRequestError(.bundleIdentifierMalformed, "only letters, digits, dots and hyphens are allowed")
    }
    self.text = text
  }
}

extension UInt8 {
  /// Whether the byte is one of the 62 ASCII letters and digits.
  var isASCIILetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
