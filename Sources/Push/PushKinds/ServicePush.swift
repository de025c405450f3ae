public import APNSCore
internal import FoundationEssentials
public import Localisation

/// A push that a server has asked for, shown uncut. ``ServicePushRequest`` has checked it before it was stored.
public struct ServicePush: PushContent {
  /// As `tacet.push_kinds` names it.
  public static let name = "service_push"

  /// What it says.
  let stored: StoredPush

  /// Reads `title`, `body`, `data` and `presentation`.
  public init(_ claimed: ClaimedContent) throws { stored = try claimed.decode() }

  /// The words in other locales.
  public var localised: LocalisedTexts? { stored.localised }

  /// The same in one of them.
  public func inLocale(_ locale: LocaleTag) -> Self { Self(stored: stored.inLocale(locale)) }

  private init(stored: StoredPush) { self.stored = stored }

  /// The words are ours to keep.
  public var ledgerText: String? { stored.ledgerText }

  /// Its words and data as the server gave them.
  public func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    try stored.push(about: subject)
  }

  /// The same words, also of a push that only wakes the app.
  public func alert(about subject: PushSubject) throws(PushRequestError) -> PreparedPush? {
    try stored.push(about: subject, over: .alert)
  }
}
