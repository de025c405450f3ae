package import PushRules

/// Who decides, and by which limits.
package struct Decider: Equatable, Sendable {
  /// The process, as `tacet.instances` has it; some letters and digits.
  package let instance: String

  package let policy: SuppressionPolicy

  package init(instance: String = "", policy: SuppressionPolicy = SuppressionPolicy()) {
    self.instance = instance
    self.policy = policy
  }
}

extension HistoryEntry {
  /// What the ledger keeps of a claim; nil when nothing is known of it but its outcome.
  init?(_ outcome: RecipientOutcome, of decided: DecidedEvent) {
    guard let recipient = outcome.recipient else { return nil }
    self.init(
      claim: decided.event.attempts,
      claimedAt: decided.event.claimedAt,
      instance: decided.decider.instance,
      wokenBy: decided.wokenBy,
      releasedBy: recipient.releasedBy,
      releasedAt: recipient.releasedAt,
      wokenMicroseconds: outcome.wokenMicroseconds,
      decidedMicroseconds: outcome.decidedMicroseconds,
      situation: Situation(recipient, decided.decider.policy),
      decision: outcome.decision,
      reason: outcome.reason,
      dueMicroseconds: outcome.dueAfterClaim,
      remaining: outcome.remaining?.rawValue,
      attempts: outcome.deviceAttempts)
    fold = outcome.fold
  }

  var json: String {
    let attempts = attempts.prefix(Self.attemptsKeptMax)
    let bytes = JSONBytes.document(reservingBytes: 320 + 160 * attempts.count) { object in
      object.append(member: "claim", integer: Int64(claim))
      object.append(member: "at", integer: claimedAt)
      object.append(member: "by", present: instance)
      object.append(member: "woken_by", present: wokenBy)
      object.append(member: "released_by", text: releasedBy)
      object.append(member: "released_at", integer: releasedAt)
      object.append(member: "woken_us", integer: wokenMicroseconds)
      object.append(member: "decided_us", integer: decidedMicroseconds)
      object.append(member: "known") { situation.write(to: &$0) }
      object.append(member: "decision", present: decision.rawValue)
      object.append(member: "reason", text: reason)
      object.append(member: "due_us", integer: dueMicroseconds)
      object.append(member: "remaining", text: remaining)
      if let fold { object.append(member: "fold") { fold.write(to: &$0) } }
      guard !attempts.isEmpty else { return }
      object.append(name: "attempts")
      object.append(literal: "[")
      var kept = 0
      for attempt in attempts where object.bytes.count < Self.keptBytesMax {
        attempt.write(to: &object)
        kept += 1
      }
      object.append(literal: "]")
      if kept < self.attempts.count {
        object.append(member: "attempts_left_out", integer: Int64(self.attempts.count - kept))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension HistoryEntry.Fold {
  fileprivate func write(to object: inout JSONBytes) {
    object.append(member: "sound", truth: sounds)
    if more != 0 { object.append(member: "more", integer: Int64(more)) }
    object.append(member: "burst", present: burst)
  }
}

extension HistoryEntry.Situation {
  fileprivate init(_ recipient: PushRecipient, _ policy: SuppressionPolicy) {
    let known = recipient.situation
    isParticipant = recipient.isParticipant
    messageAge = known.messageAge.wholeMicroseconds
    heldFor = known.heldFor.wholeMicroseconds
    isDeleted = known.isDeleted
    isCancelled = known.isCancelled
    isCapped = known.isCapped
    life = known.life?.wholeMicroseconds
    hasRead = known.hasRead
    lastSeenAge = known.lastSeenAge?.wholeMicroseconds
    sawAfterMessage = known.sawAfterMessage
    hasLeft = known.hasLeft
    newestOtherReadAge = known.newestOtherReadAge?.wholeMicroseconds
    isOptedOut = known.isOptedOut
    isMuted = known.isMuted
    wantsMentionsOnly = known.wantsMentionsOnly
    isMentioned = known.isMentioned
    quietHoursRemaining = known.quietHoursRemaining?.wholeMicroseconds
    quietHoursPolicy = known.quietHoursRemaining == nil ? nil : known.quietHoursPolicy.rawValue
    deviceCount = known.deviceCount
    window = policy.window.wholeMicroseconds
    timeToLive = policy.timeToLive.wholeMicroseconds
  }

  fileprivate func write(to object: inout JSONBytes) {
    if !isParticipant { object.append(member: "participant", truth: false) }
    object.append(member: "message_us", integer: messageAge)
    if heldFor != 0 { object.append(member: "held_us", integer: heldFor) }
    object.append(member: "deleted", ifTrue: isDeleted)
    object.append(member: "cancelled", ifTrue: isCancelled)
    object.append(member: "capped", ifTrue: isCapped)
    object.append(member: "life_us", integer: life)
    object.append(member: "read", ifTrue: hasRead)
    object.append(member: "seen_us", integer: lastSeenAge)
    object.append(member: "seen_after", ifTrue: sawAfterMessage)
    object.append(member: "left", ifTrue: hasLeft)
    object.append(member: "other_read_us", integer: newestOtherReadAge)
    object.append(member: "opted_out", ifTrue: isOptedOut)
    object.append(member: "muted", ifTrue: isMuted)
    object.append(member: "mentions_only", ifTrue: wantsMentionsOnly)
    object.append(member: "mentioned", ifTrue: isMentioned)
    object.append(member: "quiet_us", integer: quietHoursRemaining)
    object.append(member: "quiet_policy", text: quietHoursPolicy)
    object.append(member: "devices", integer: Int64(deviceCount))
    object.append(member: "window_us", integer: window)
    object.append(member: "ttl_us", integer: timeToLive)
  }
}

extension HistoryEntry.Attempt {
  fileprivate func write(to json: inout JSONBytes) {
    json.appendComma()
    json.append(literal: "{")
    json.append(member: "device", present: device)
    json.append(member: "route", text: route)
    json.append(member: "ended_us", integer: endedMicroseconds)
    json.append(member: "status", integer: status.map(Int64.init))
    json.append(member: "reason", text: reason)
    json.append(member: "apns_id", text: identifier)
    json.append(member: "content", text: content)
    json.append(member: "verdict", present: verdict)
    json.append(member: "locale", text: locale)
    json.append(member: "asked", text: askedLocale)
    json.append(literal: "}")
  }
}

extension JSONBytes {
  /// A text, also when it is empty.
  fileprivate mutating func append(member name: StaticString, present text: String) {
    append(name: name)
    append(string: text)
  }

  fileprivate mutating func append(member name: StaticString, truth: Bool) {
    append(name: name)
    append(literal: truth ? "true" : "false")
  }

  fileprivate mutating func append(member name: StaticString, ifTrue truth: Bool) {
    if truth { append(member: name, truth: true) }
  }
}
