/// A push that a campaign has written for one user.
package struct CampaignPush: PushContent {
  package static let name = "campaign_push"

  private let stored: StoredPush

  /// Reads what ``ServicePush`` reads.
  package init(_ claimed: ClaimedContent) throws { stored = try claimed.decode() }

  package var localised: LocalisedTexts? { stored.localised }

  package func inLocale(_ locale: LocaleTag) -> Self { Self(stored: stored.inLocale(locale)) }

  private init(stored: StoredPush) { self.stored = stored }

  /// The words are ours to keep.
  package var ledgerText: String? { stored.ledgerText }

  /// Its words and data as the campaign gave them.
  package func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    try stored.push(about: subject)
  }
}
