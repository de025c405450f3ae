extension SuppressionPolicy {
  /// Whether one recipient's push goes out, waits, or never comes.
  ///
  /// The same question is asked when a message arrives, whenever a hold ends or something is learnt about it, and right
  /// before the send; the answer depends on nothing else than the arguments. First what makes the push pointless for
  /// good, then what the recipient wants, then what is only guessed:
  ///
  /// 1. **deleted**: there is nothing left to announce, and its text must not leave the house.
  /// 2. **already_read**: certain knowledge, so no clock is asked. Before *expired*, because it is the truer reason of
  ///    the two.
  /// 3. **expired**: before everything that could hold, so that nothing waits for a push that will not be sent.
  /// 4. **user_viewing**, seen since it arrived: also certain. Leaving afterwards does not undo having seen it.
  /// 5. **opted_out**: the recipient's wishes that hold at all times come before quiet hours, which only postpone, and
  ///    of them the widest first: it concerns all pushes of a kind.
  /// 6. **muted**: concerns all of one conversation, so that a mention does not break it.
  /// 7. **not_mentioned**: concerns the messages of one conversation that do not mention the recipient.
  /// 8. **no_tokens**: waiting would not bring a device. After the wishes, so that the log names the recipient's own
  ///    choice.
  /// 9. **quiet_hours**: before presence, because a hold for presence would end within them and have to be asked again.
  ///    A mention does not break them either.
  /// 10. **user_viewing**, seen lately: only probable, therefore held and never dropped.
  /// 11. Otherwise **send**: when presence is unknown the push goes out, as a lost message is worse than a needless one.
  public func decision(for situation: RecipientSituation) -> PushDecision {
    if let reason = finalReason(for: situation) { return .skip(reason: reason) }
    if let decision = quietHoursDecision(for: situation) { return decision }
    if let remaining = presenceRemaining(for: situation) { return .hold(for: remaining, reason: .userViewing) }
    return .send
  }

  /// What settles the matter for good, by precedence.
  private func finalReason(for situation: RecipientSituation) -> DecisionReason? {
    if situation.isDeleted { return .deleted }
    if situation.hasRead { return .alreadyRead }
    if situation.messageAge - situation.heldFor > timeToLive { return .expired }
    if sawItArrive(situation) { return .userViewing }
    if let reason = unwantedReason(for: situation) { return reason }
    if situation.deviceCount <= 0 { return .noTokens }
    return nil
  }

  /// What the recipient does not want at any time, the widest wish first.
  private func unwantedReason(for situation: RecipientSituation) -> DecisionReason? {
    if situation.isOptedOut { return .optedOut }
    if situation.isMuted { return .muted }
    if situation.wantsMentionsOnly, !situation.isMentioned { return .notMentioned }
    return nil
  }

  /// Whether the recipient certainly looked after the message came.
  ///
  /// A report from the future proves nothing: that clock is wrong, so it may have been written before the message.
  /// Believing it would drop every message until the true time has caught up.
  private func sawItArrive(_ situation: RecipientSituation) -> Bool {
    guard let age = situation.lastSeenAge, age >= .zero else { return false }
    return situation.sawAfterMessage
  }

  private func quietHoursDecision(for situation: RecipientSituation) -> PushDecision? {
    guard let remaining = situation.quietHoursRemaining, remaining > .zero else { return nil }
    switch situation.quietHoursPolicy {
    case .hold: return .hold(for: remaining, reason: .quietHours)
    case .drop: return .skip(reason: .quietHours)
    }
  }

  /// How long the recipient is still taken to be looking; nil when not at all.
  ///
  /// A client that reports its views is believed alone. Reads stand in where it does not report, and are weaker: a
  /// message is also touched by an edit. A client that says it left has ended its presence whatever was seen or read
  /// before. A sign from the future is none: whoever may date a row would hold the pushes of others for as long as they like.
  private func presenceRemaining(for situation: RecipientSituation) -> Duration? {
    let signs = [situation.lastSeenAge, situation.newestOtherReadAge]
    guard !situation.hasLeft, let sign = signs.lazy.compactMap(\.self).first(where: { $0 >= .zero }) else { return nil }
    let remaining = window - sign
    return remaining > .zero ? remaining : nil
  }
}
