package import PushRules
package import PushStore

extension HistoryEntry.Situation {
  /// What the rules were given, as far as it is kept.
  package var recipientSituation: RecipientSituation {
    var known = RecipientSituation.nothingKnown
    known.messageAge = .microseconds(messageAge)
    known.heldFor = .microseconds(heldFor)
    known.isDeleted = isDeleted
    known.isCancelled = isCancelled
    known.isCapped = isCapped
    known.life = life.map { .microseconds($0) }
    known.hasRead = hasRead
    known.lastSeenAge = lastSeenAge.map { .microseconds($0) }
    known.sawAfterMessage = sawAfterMessage
    known.hasLeft = hasLeft
    known.newestOtherReadAge = newestOtherReadAge.map { .microseconds($0) }
    known.isOptedOut = isOptedOut
    known.isMuted = isMuted
    known.wantsMentionsOnly = wantsMentionsOnly
    known.isMentioned = isMentioned
    known.quietHoursRemaining = quietHoursRemaining.map { .microseconds($0) }
    known.quietHoursPolicy = quietHoursPolicy.flatMap(QuietHoursPolicy.init) ?? .hold
    known.deviceCount = deviceCount
    return known
  }

  /// The limits of that time.
  package var policy: SuppressionPolicy {
    SuppressionPolicy(window: .microseconds(max(0, window)), timeToLive: .microseconds(max(0, timeToLive)))
  }
}
