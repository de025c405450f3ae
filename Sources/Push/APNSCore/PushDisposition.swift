/// What is to be done after an answer: the whole vocabulary of the sender.
///
/// Every resend keeps the identifier, the fields and the body, and none happens after the push's own expiration.
public enum PushDisposition: Equatable, Sendable {
  /// APNs took the push. That is all it means: whether it is shown is between APNs and the device.
  case accepted
  /// The token is dead: stop using it, unless the app registered it again after `invalidSinceMilliseconds` (since 1970;
  /// nil when APNs did not say, then the time of sending counts). Never resend this push.
  case dropToken(invalidSinceMilliseconds: Int64?)
  /// Never resend this push; nothing else is wrong.
  case never
  /// The request itself is wrong, by our fault or the caller's: set it aside and tell an engineer. Resend only after a
  /// change.
  case fixRequest
  /// A credential or a setting is wrong, so every push of this app and environment would be refused: stop them all,
  /// tell an operator, go on after a change.
  case fixCredentials
  /// Make a new provider token, once, and resend.
  case refreshProviderToken
  /// Open a new connection, with a fresh look-up of the host's address, and resend.
  case reconnect
  /// Resend after at least this long, and longer from attempt to attempt.
  case retryLater(minimumWait: Duration)
}
