/// What the sender does after an answer.
///
/// Every resend keeps the identifier, the fields and the body, and none happens after the push's own expiration.
package enum PushDisposition: Equatable, Sendable {
  /// The service took the push. Whether the device shows it is between the two.
  case accepted
  /// The target is dead: stop using it, unless the app registered it again after `invalidSinceMilliseconds` (since 1970;
  /// nil when the service did not say, then the time of sending counts). Never resend this push.
  case dropToken(invalidSinceMilliseconds: Int64?)
  /// The service refuses the target without proving it dead. A wrong environment, topic or key brings the same answer for
  /// every target, so set targets aside only while other pushes of the same route succeed. Never resend this push.
  case suspectToken
  /// Never resend this push; nothing else is wrong.
  case never
  /// The request itself is wrong, by a bug here or in the caller: set it aside and tell an engineer. Resend only after a
  /// change.
  case fixRequest
  /// A credential or a setting is wrong, so the service would refuse every push of this route: stop them all, tell an
  /// operator, go on after a change.
  case fixCredentials
  /// Make a new provider token, once, and resend.
  case refreshProviderToken
  /// Open a new connection, with a fresh look-up of the host's address, and resend.
  case reconnect
  /// Resend after at least this long, and longer from attempt to attempt.
  case retryLater(minimumWait: Duration)
}

extension PushDisposition {
  /// The shortest wait after a fault inside APNs, and the longest wait that doubling brings anywhere. Source: "Handling
  /// notification responses from APNs" (Apple): a push answered with a 5xx status may be sent again after 15 minutes.
  package static let serviceFaultWait = Duration.seconds(15 * 60)

  /// The shortest wait after 429 that names none. Apple asks for "a delay" without a number, Google for a minute; one minute,
  /// doubling, is the usual practice.
  package static let tooManyWait = Duration.seconds(60)
}
