internal import FoundationEssentials

/// A push that a server has asked for, shown uncut. ``ServicePushRequest`` has checked it before it was stored.
package struct ServicePush: PushContent {
  /// As `tacet.push_kinds` names it.
  package static let name = "service_push"

  /// What it says.
  let stored: StoredPush

  /// Reads `title`, `body`, `data` and `presentation`.
  package init(_ claimed: ClaimedContent) throws { stored = try claimed.decode() }

  /// The words in other locales.
  package var localised: LocalisedTexts? { stored.localised }

  /// The same in one of them.
  package func inLocale(_ locale: LocaleTag) -> Self { Self(stored: stored.inLocale(locale)) }

  private init(stored: StoredPush) { self.stored = stored }

  /// The words are ours to keep.
  package var ledgerText: String? { stored.ledgerText }

  /// Its words and data as the server gave them.
  package func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    try stored.push(about: subject)
  }

  /// The same words, also of a push that only wakes the app.
  package func alert(about subject: PushSubject) throws(PushRequestError) -> PreparedPush? {
    try stored.push(about: subject, over: .alert)
  }
}
