/// Why a push could not be put into a request; always found before anything is sent.
///
/// Each refused push costs allowed throughput at APNs and enough of them cost the connection, so what APNs would
/// certainly refuse is refused here first.
public struct PushRequestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The rule that was broken.
  public enum Code: String, Sendable {
    /// The device token is empty, too long, or not the hexadecimal form of whole bytes.
    case deviceTokenMalformed
    /// The collapse identifier is empty, longer than 64 bytes, or not fit for a header.
    case collapseIdentifierMalformed
    /// The bundle identifier is empty, too long, or holds something else than letters, digits, dots and hyphens.
    case bundleIdentifierMalformed
    /// APNs does not take this priority for this push type.
    case priorityNotAllowed
    /// The body is empty.
    case payloadEmpty
    /// The body is larger than its push type allows, or would be even without its alert text.
    case payloadTooLarge
    /// Custom data uses a key that belongs to Apple.
    case customKeyReserved
    /// The push would show and play nothing, or asks for what only a shown text gets.
    case nothingToShow
    /// A value without which the push means nothing is empty.
    case valueEmpty
    /// A number is infinite or none, which JSON cannot write.
    case numberNotFinite
    /// A number that must be within 0...1 is not.
    case fractionOutOfRange
    /// A broadcast channel's identifier is not standard base64.
    case channelIdentifierMalformed
    /// A Live Activity is to stay on the screen for longer than the system lets it.
    case dismissalTooLate
  }

  /// The rule that was broken.
  public let code: Code
  /// What was found and what is allowed, for an engineer; holds no token, title, body or custom value.
  public let message: String

  /// Creates an error; `message` must not quote user content.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message in one line.
  public var description: String { "\(code.rawValue): \(message)" }
}
