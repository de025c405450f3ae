internal import Cryptography

/// Why a push cannot become a request; thrown before anything is sent.
///
/// Each push that APNs refuses lowers the sender's throughput, and many of them end the connection. So what APNs would
/// certainly refuse is refused here first.
package struct PushRequestError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The device token is empty, too long, or not the hexadecimal form of whole bytes.
    case deviceTokenMalformed
    /// The address or the keys of a browser or of an Android app are not what its push service gives out.
    case targetMalformed
    /// The collapse identifier is empty, longer than 64 bytes, or unfit for a header.
    case collapseIdentifierMalformed
    /// The bundle identifier is empty, too long, or has other characters than letters, digits, dots and hyphens.
    case bundleIdentifierMalformed
    /// APNs does not take this priority for this push type.
    case priorityNotAllowed
    case payloadEmpty
    /// The body is larger than its push type allows, even without its alert text.
    case payloadTooLarge
    /// Custom data uses a key that belongs to Apple.
    case customKeyReserved
    /// The push would show and play nothing, or asks for something that needs a text.
    case nothingToShow
    /// A number is infinite or NaN, which JSON cannot write.
    case numberNotFinite
    /// A number that must be within 0...1 is not.
    case fractionOutOfRange
  }

  package let code: Code
  /// The fault and the limit, for an engineer; holds no token, title, body or custom value.
  package let message: String

  /// Creates an error; `message` must not quote user content.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

/// What a push asks the device to do: the value of the `apns-push-type` header. Of Apple's types, those that are sent.
///
/// Source: "Sending notification requests to APNs" (Apple), which prints the suffix of Live Activities without its leading dot.
package enum PushType: String, CaseIterable, Sendable {
  /// Shows an alert, plays a sound or sets a badge.
  case alert
  /// Wakes the app without showing anything.
  case background
  case liveactivity

  /// The largest body, in bytes of JSON as sent. Source: "Generating a remote notification" (Apple).
  package static let bodyBytesMax = 4096

  /// What follows the bundle identifier in `apns-topic`.
  package var topicSuffix: String { self == .liveactivity ? ".push-type.liveactivity" : "" }

  /// Whether APNs takes a priority for this type. A background push at 10 is documented as an error, and Live Activities name 5 and 10
  /// only.
  package func allows(_ priority: PushPriority) -> Bool {
    switch self {
    case .alert: true
    case .background: priority == .powerAware
    case .liveactivity: priority != .neverWaking
    }
  }

  /// 5 where APNs takes no other or counts 10 toward a budget, else 10, which is also APNs' own default.
  package var usualPriority: PushPriority { self == .alert ? .immediate : .powerAware }
}

/// How urgently APNs hands a push to the device: the value of the `apns-priority` header.
///
/// It travels in the header only: APNs ignores a `priority` inside `aps`, so no payload has one.
package enum PushPriority: Int, CaseIterable, Sendable {
  /// At once, waking the device if it must.
  case immediate = 10
  /// When the device's power allows; may be batched, throttled or dropped.
  case powerAware = 5
  /// Never wakes the device; may be batched, throttled or dropped.
  case neverWaking = 1

  /// The header value, in decimal digits; constant strings, because every push needs one.
  package var headerValue: String {
    switch self {
    case .immediate: "10"
    case .powerAware: "5"
    case .neverWaking: "1"
    }
  }
}

/// The `apns-id` of a push: the same event, recipient and device give the same identifier, in every attempt of every
/// process.
///
/// A version 5 UUID (RFC 9562 §5.5, SHA-1 over a namespace and a name) in lower-case 8-4-4-4-12 form, as Apple documents
/// it. It protects no secret: SHA-1 is what the RFC asks for.
package struct PushIdentifier: Hashable, Sendable {
  /// Tacet's name space, a random UUID. A change would give every push in flight a second identity.
  private static let namespace: [UInt8] = [
    0x7F, 0x8D, 0xEC, 0x24, 0x7A, 0xD0, 0x48, 0x68, 0x9F, 0x48, 0x43, 0x4F, 0xC4, 0xFF, 0x50, 0x2C,
  ]

  /// 36 characters of lower-case hexadecimal digits and hyphens.
  package let text: String

  /// Derives the identifier of one push.
  ///
  /// A zero byte, which PostgreSQL's text cannot hold, joins the parts, so two different lists never make the same name.
  /// Give identifiers the way the database prints them.
  /// - Parameters:
  ///   - eventKind: the kind of event, such as `message`.
  ///   - event: the event's identifier within its kind.
  ///   - recipient: the user's identifier.
  package init(eventKind: String, event: String, recipient: String, deviceToken: DeviceToken) {
    text = Self.version5(namespace: Self.namespace, name: [eventKind, event, recipient, deviceToken.hexadecimal])
  }

  /// A text of 36 characters that stands for one of any length: the same for the same text.
  package static func digest(of text: String) -> String { version5(namespace: namespace, name: [text]) }

  /// - Parameter name: parts that a zero byte joins; on the stack, because every push has a name.
  static func version5(namespace: [UInt8], name: [String]) -> String {
    let byteCount = name.reduce(namespace.count + name.count - 1) { $0 + $1.utf8.count }
    return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
      bytes.copyBytes(from: namespace)
      var end = namespace.count
      for (index, part) in name.enumerated() {
        if index > 0 {
          bytes[end] = 0
          end += 1
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: part.utf8)
        end += part.utf8.count
      }
      return SHA1.hash(UnsafeRawBufferPointer(bytes)) { hash in
        let high = UInt64(bigEndian: hash.loadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: hash.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        // Version 5, and the variant of RFC 9562.
        return HexadecimalDigits.uuid(
          high: high & ~0xF000 | 0x5000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
      }
    }
  }
}

/// Pushes with the same value replace one another on the device's screen: the `apns-collapse-id` header.
///
/// It is the only server-side means against visible duplicates (`apns-id` is not documented as one), so every push that may
/// be resent keeps one over all its attempts.
package struct CollapseIdentifier: Hashable, Sendable {
  /// APNs' limit, in bytes and not in characters.
  package static let bytesMax = 64

  package let text: String

  /// Takes printable ASCII text of 1 to 64 bytes.
  ///
  /// Apple limits only the length. The characters are those that a header field carries unharmed (RFC 9110 §5.5), without
  /// the spaces that HTTP/2 forbids at either end (RFC 9113 §8.2.1).
  /// - Throws: `collapseIdentifierMalformed`.
  package init(_ text: String) throws(PushRequestError) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else {
      throw PushRequestError(
        .collapseIdentifierMalformed, "\(text.utf8.count) bytes long; 1 to \(Self.bytesMax) are allowed")
    }
    var text = text
    guard text.withUTF8({ $0.allSatisfy { (0x21...0x7E).contains($0) } }) else {
      throw PushRequestError(.collapseIdentifierMalformed, "only printable ASCII without spaces is allowed")
    }
    self.text = text
  }
}

/// The digits of hexadecimal text as ASCII bytes.
package enum HexadecimalDigits {
  /// The digit of a number below 16. Arithmetic, because a global table costs a check for its initialisation on each use.
  static func lowerCase(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") &+ number : UInt8(ascii: "a") &- 10 &+ number
  }

  /// A UUID's text: 8-4-4-4-12 digits in lower case, as PostgreSQL prints and APNs documents it. Every push needs several, and
  /// Foundation formats each byte by `snprintf`.
  /// - Parameters:
  ///   - high: its first eight bytes, the first of them in the highest bits.
  ///   - low: its last eight bytes.
  package static func uuid(high: UInt64, low: UInt64) -> String {
    String(unsafeUninitializedCapacity: 36) { text in
      var position = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[position] = UInt8(ascii: "-")
          position += 1
        }
        let byte = UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index & 7)))
        text[position] = lowerCase(byte >> 4)
        text[position + 1] = lowerCase(byte & 0x0F)
        position += 2
      }
      return position
    }
  }
}
