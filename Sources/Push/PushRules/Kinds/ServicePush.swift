internal import FoundationEssentials

/// A push that a server has asked for, shown uncut. ``ServicePushRequest`` has checked it before it was stored.
package struct ServicePush: PushContent {
  package static let name = "service_push"

  let stored: StoredPush

  /// Reads `title`, `body`, `data` and `presentation`.
  package init(_ claimed: ClaimedContent) throws { stored = try claimed.decode() }

  package var localised: LocalisedTexts? { stored.localised }

  package func inLocale(_ locale: LocaleTag) -> Self { Self(stored: stored.inLocale(locale)) }

  private init(stored: StoredPush) { self.stored = stored }

  /// The words are ours to keep.
  package var ledgerText: String? { stored.ledgerText }

  package func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    try stored.push(about: subject)
  }

  /// The same words, also of a push that only wakes the app.
  package func alert(about subject: PushSubject) throws(PushRequestError) -> PreparedPush? {
    try stored.push(about: subject, over: .alert)
  }
}
