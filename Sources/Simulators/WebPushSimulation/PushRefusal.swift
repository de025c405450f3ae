/// What is wrong with a request, before a service gives it a form.
package enum PushRefusal: Error, Equatable, Sendable, CaseIterable {
  /// No such subscription, or an expired one.
  case expired
  /// The user unsubscribed.
  case gone
  case bodyTooLarge
  case timeToLiveMissing
  /// `TTL` is not a number that the service accepts.
  case timeToLiveMalformed
  case urgencyUnknown
  /// `Topic` has other characters than base64url, or too many.
  case topicMalformed
  /// The body is not `aes128gcm`, or the fields of an older encoding are there.
  case encodingNotSupported
  /// A restricted subscription, and no VAPID.
  case authorizationMissing
  /// Authorization is not VAPID with `t` and `k`.
  case authorizationMalformed
  /// `k` is not a point on P-256.
  case keyMalformed
  /// The token's form, signature or claims.
  case tokenInvalid
  /// `k` is not the key of the subscription.
  case keyMismatch
}

/// A response of the stand-in, before it becomes HTTP.
struct PushResponse: Equatable, Sendable {
  var status: Int
  /// The service's word, for the log.
  var reason: String?
  var fields: [String: String] = [:]
  var body: String = ""
}
