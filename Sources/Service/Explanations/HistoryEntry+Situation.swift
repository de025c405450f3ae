internal import PushRules
internal import PushStore

extension HistoryEntry.Situation {
  /// What the rules were given, as far as it is kept.
  var recipientSituation: RecipientSituation {
    RecipientSituation(
      messageAge: .microseconds(messageAge), heldFor: .microseconds(heldFor), isDeleted: isDeleted,
      isCancelled: isCancelled, isCapped: isCapped, life: life.map { .microseconds($0) }, hasRead: hasRead,
      lastSeenAge: lastSeenAge.map { .microseconds($0) }, sawAfterMessage: sawAfterMessage, hasLeft: hasLeft,
      newestOtherReadAge: newestOtherReadAge.map { .microseconds($0) }, isOptedOut: isOptedOut, isMuted: isMuted,
      wantsMentionsOnly: wantsMentionsOnly, isMentioned: isMentioned,
      quietHoursRemaining: quietHoursRemaining.map { .microseconds($0) },
      quietHoursPolicy: quietHoursPolicy.flatMap(QuietHoursPolicy.init) ?? .hold, deviceCount: deviceCount)
  }

  /// The limits of that time.
  var policy: SuppressionPolicy {
    SuppressionPolicy(window: .microseconds(max(0, window)), timeToLive: .microseconds(max(0, timeToLive)))
  }
}
