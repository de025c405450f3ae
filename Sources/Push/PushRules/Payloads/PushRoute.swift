/// The way a push takes: the app it is for, and the APNs environment that issued the device's token.
///
/// Credentials, faults of configuration and outages belong to a route rather than to a push.
package struct PushRoute: Hashable, Sendable {
  /// The app that the device token was issued to.
  package let app: BundleIdentifier
  package let environment: APNSEnvironment

  package init(app: BundleIdentifier, environment: APNSEnvironment) {
    self.app = app
    self.environment = environment
  }

  /// The route's name in the database and in logs, such as `com.example.app/production`.
  package var name: String { "\(app.text)/\(environment.rawValue)" }
}

/// One of Apple's two separate push services. A device token works only in the one that issued it.
package enum APNSEnvironment: String, CaseIterable, Sendable {
  /// For apps from the App Store, TestFlight and ad hoc distribution.
  case production
  /// For apps that Xcode installed, whose entitlement says `development`.
  case sandbox

  /// Apple's host for pushes to devices. Port 443, or 2197 for firewalls that block it.
  package var hostName: String {
    switch self {
    case .production: "api.push.apple.com"
    case .sandbox: "api.sandbox.push.apple.com"
    }
  }
}

/// The identifier of an app in the App Store, from which every `apns-topic` is built.
package struct BundleIdentifier: Hashable, Sendable {
  /// The longest identifier in bytes: the limit of Apple's developer site.
  package static let bytesMax = 255

  /// The identifier as given; letters, digits, dots and hyphens, case kept.
  package let text: String

  /// Takes an identifier such as `com.example.app`.
  ///
  /// - Throws: `bundleIdentifierMalformed` when it is empty, too long or holds other characters. Source:
  ///   `CFBundleIdentifier` in Apple's information property list reference.
  package init(_ text: String) throws(PushRequestError) {
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
  var isASCIILetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
