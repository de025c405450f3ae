internal import Cryptography
internal import FoundationEssentials

/// Where a push goes, as the host or an app has stored it: an address of a channel.
package struct PushTarget: Equatable, Sendable {
  /// The longest address, in bytes: an endpoint of a browser. A device token is half as long.
  package static let addressBytesMax = 1024

  package let channel: DeliveryChannel

  /// A device token, an endpoint or whatever else the channel knows its devices by; not yet checked.
  package let address: String

  /// `production` or `sandbox`; nil when the registration did not say, and for channels with one environment.
  package let environment: String?

  /// The app that got the address, not yet checked; nil when its registration did not say.
  package let app: String?

  /// What the channel needs beside the address, as the app has given it: a JSON object, not yet checked. Nil for nothing.
  package let keys: String?

  package init(
    _ channel: DeliveryChannel = .apns, address: String, environment: String? = nil, app: String? = nil,
    keys: String? = nil
  ) {
    self.channel = channel
    self.address = address
    self.environment = environment
    self.app = app
    self.keys = keys
  }
}

extension PushTarget {
  /// What stands for the target in the ledger and among the targets that have a push: the device token itself at APNs, else 32
  /// digits of the address's SHA-256, because who knows an endpoint can push to it.
  package var mark: String {
    channel == .apns ? address : SHA256.hash(Array(address.utf8)).hexadecimal(bytes: 16)
  }
}

extension PushTarget {
  private static let keysBytesMax = 4096

  /// The locale that its device asks for: the member `locale` of ``keys``. Nil without a readable one.
  package var locale: LocaleTag? {
    guard let keys, keys.utf8.count <= Self.keysBytesMax,
      let members = try? JSONDecoder().decode(Members.self, from: Data(keys.utf8))
    else { return nil }
    return LocaleTag(members.locale)
  }

  private struct Members: Decodable {
    let locale: String
  }
}

extension DeliveryChannel {
  /// Apple's push service. Targets that name no channel are of it.
  package static let apns = DeliveryChannel(rawValue: "apns")
}

/// A way for pushes to reach devices: a push service with addresses, credentials, answers and limits of its own.
///
/// A text rather than an enumeration, because the database keeps it and each channel names itself.
package struct DeliveryChannel: RawRepresentable, Hashable, Sendable {
  /// As targets name it: small letters and underscores.
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }
}

/// The part of a channel that works or fails as one: it has one credential and one service behind it.
///
/// Credentials, faults of configuration and outages belong to a route rather than to a push.
package struct DeliveryRoute: Hashable, Sendable {
  package let channel: DeliveryChannel

  /// The route's name in the database and in logs, unique over all channels.
  package let name: String

  package init(_ channel: DeliveryChannel, name: String) {
    self.channel = channel
    self.name = name
  }
}

/// Admits pushes, and may change its mind while they wait for a connection or a stream.
package protocol PushGate: AnyObject {
  /// Whether a push that was admitted under this number may still go.
  func admits(_ number: Int) -> Bool
}

/// The permission to send a push, checked again just before: a push that waits for a stream must not outlive its reason.
package struct PushPermit {
  private let gate: any PushGate
  private let number: Int

  /// - Parameter number: tells the gate when it admitted the push.
  package init(from gate: any PushGate, number: Int) {
    self.gate = gate
    self.number = number
  }

  package var isValid: Bool { gate.admits(number) }
}

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

/// The address of one app on one device, as the app received it from the system and registered it.
///
/// Kept as lower-case hexadecimal text: APNs takes both cases, but identifiers and uniqueness derive from one spelling. It
/// becomes part of the request path, so only hexadecimal digits get in.
package struct DeviceToken: Hashable, Sendable {
  /// The most digits. Apple promises no length (64, 108 and 160 digits are common, Live Activities use more); three times the
  /// longest in common use. A claim holds many tokens at once.
  package static let digitsMax = 512

  /// The token, lower-case hexadecimal, an even number of digits from 2 to ``digitsMax``.
  package let hexadecimal: String

  /// Takes a token in either case.
  ///
  /// - Throws: `deviceTokenMalformed` for an empty or overlong text, an odd number of digits, or any other character.
  package init(_ text: String) throws(PushRequestError) {
    let digits = text.utf8.count
    guard (2...Self.digitsMax).contains(digits), digits.isMultiple(of: 2) else {
      throw PushRequestError(
        .deviceTokenMalformed,
        "\(digits) bytes long; an even number of hexadecimal digits up to \(Self.digitsMax) is needed")
    }
    var text = text
    switch text.withUTF8({ Self.spelling(of: $0) }) {
    case .lowerCase: hexadecimal = text
    case .mixedCase: hexadecimal = text.lowercased()
    case .notHexadecimal:
      throw PushRequestError(.deviceTokenMalformed, "holds something else than hexadecimal digits")
    }
  }

  private enum Spelling {
    case lowerCase, mixedCase, notHexadecimal
  }

  /// Branch-free, so that it becomes vector instructions: every push has a token.
  private static func spelling(of digits: UnsafeBufferPointer<UInt8>) -> Spelling {
    var (isLowerCase, isHexadecimal): (UInt8, UInt8) = (1, 1)
    for digit in digits {
      let isLower = one(if: digit, isIn: "0", "9") | one(if: digit, isIn: "a", "f")
      isLowerCase &= isLower
      isHexadecimal &= isLower | one(if: digit, isIn: "A", "F")
    }
    if isLowerCase == 1 { return .lowerCase }
    return isHexadecimal == 1 ? .mixedCase : .notHexadecimal
  }

  private static func one(if digit: UInt8, isIn first: Unicode.Scalar, _ last: Unicode.Scalar) -> UInt8 {
    (UInt8(ascii: first)...UInt8(ascii: last)).contains(digit) ? 1 : 0
  }
}
