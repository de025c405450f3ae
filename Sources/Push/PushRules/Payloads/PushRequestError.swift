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
