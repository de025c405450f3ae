/// Why a value cannot be part of a push to a browser. Thrown before anything is sent.
package struct WebPushError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case endpointTooLong
    /// The endpoint's scheme is not `https`.
    case endpointSchemeNotAllowed
    case endpointMalformed
    case endpointHasUserInformation
    case endpointHasFragment
    /// The host and port are not among those that the operator allows.
    case endpointHostNotAllowed
    /// A host of the operator's list is malformed.
    case hostPatternMalformed
    /// `p256dh` is not base64url, or not a point on the curve P-256.
    case publicKeyMalformed
    /// `auth` is not base64url of 16 bytes.
    case authenticationSecretMalformed
    /// The contact is not a `mailto:` or `https:` address that push services accept.
    case subjectMalformed
    /// The template of links is no URL.
    case linkMalformed
    /// A notification has no title, or no link to open.
    case notificationIncomplete
    /// The content is too large, even without its text.
    case payloadTooLarge
  }

  package let code: Code
  /// The fault and the limit, for an engineer. Quotes nothing that a user sent.
  package let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}
