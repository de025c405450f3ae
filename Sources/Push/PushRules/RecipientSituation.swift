/// What the database knows about one recipient of one message at the moment of the decision.
///
/// The database computes all ages with its own clock, so no two machines' clocks are ever compared. An age of zero is now. A
/// negative one lies in the database's future: another clock has written it, so it proves nothing.
package struct RecipientSituation: Equatable, Sendable {
  /// Since the message was committed.
  package var messageAge = Duration.zero
  /// The part of ``messageAge`` that this push was held on purpose; it does not count towards expiry.
  package var heldFor = Duration.zero
  /// Whether the message, or its conversation, is gone.
  package var isDeleted = false
  package var isCancelled = false
  /// Whether its cap group allows no more pushes on the user's day.
  package var isCapped = false
  /// How long the push may be sent, counted from the beginning of ``messageAge``; nil for the policy's time to live.
  package var life: Duration?
  /// Whether the recipient is in the message's `read_by`.
  package var hasRead = false
  /// Since the recipient's client last reported looking at the conversation; nil when it never did.
  package var lastSeenAge: Duration?
  /// Whether that report is later than the message's arrival.
  package var sawAfterMessage = false
  /// Whether the client has reported leaving the conversation since it was last seen there.
  package var hasLeft = false
  /// Since the newest other message of the conversation was touched, if the recipient has read it; nil otherwise.
  package var newestOtherReadAge: Duration?
  /// Whether the recipient wants no pushes of this kind.
  package var isOptedOut = false
  /// Whether the recipient silenced the conversation or its sender.
  package var isMuted = false
  package var wantsMentionsOnly = false
  /// Whether the message mentions the recipient; known only for those who want mentions only.
  package var isMentioned = false
  /// Until the recipient's quiet hours end; nil outside them.
  package var quietHoursRemaining: Duration?
  package var quietHoursPolicy = QuietHoursPolicy.hold
  package var deviceCount = 1

  /// That of a recipient with one device and no other known facts.
  package static var nothingKnown: RecipientSituation { RecipientSituation() }
}

package enum QuietHoursPolicy: String, CaseIterable, Sendable {
  /// It waits until they end, and is then decided again.
  case hold
  /// It is not sent; the app shows the message when it is opened.
  case drop
}
