/// What the sender does after an answer.
///
/// Every resend keeps the identifier, the fields and the body, and none happens after the push's own expiration.
public enum PushDisposition: Equatable, Sendable {
  /// APNs took the push. Whether the device shows it is between APNs and the device.
  case accepted
  /// The token is dead: stop using it, unless the app registered it again after `invalidSinceMilliseconds` (since 1970;
  /// nil when APNs did not say, then the time of sending counts). Never resend this push. Of a broadcast it is the channel
  /// that is dead.
  case dropToken(invalidSinceMilliseconds: Int64?)
  /// APNs refuses the token without proving it dead. A wrong environment, topic or key brings the same answer for every
  /// token, so set tokens aside only while other pushes of the same topic and environment succeed. Never resend this push.
  case suspectToken
  /// Never resend this push; nothing else is wrong.
  case never
  /// The request itself is wrong, by a bug here or in the caller: set it aside and tell an engineer. Resend only after a
  /// change.
  case fixRequest
  /// A credential or a setting is wrong, so APNs would refuse every push of this app and environment: stop them all, tell
  /// an operator, go on after a change.
  case fixCredentials
  /// Make a new provider token, once, and resend.
  case refreshProviderToken
  /// Open a new connection, with a fresh look-up of the host's address, and resend.
  case reconnect
  /// Resend after at least this long, and longer from attempt to attempt.
  case retryLater(minimumWait: Duration)
}
