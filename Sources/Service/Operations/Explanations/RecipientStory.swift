internal import PushRules
internal import PushStore

/// What happened to one recipient's push, step by step.
struct RecipientStory {
  private typealias Step = EventExplanation.Step

  let event: EventFacts
  let recipient: RecipientFacts
  let instances: [String: InstanceFacts]

  /// The earliest first; steps of one moment in the order in which they are added.
  var steps: [EventExplanation.Step] {
    let told = recorded + current
    return told.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  /// What the ledger says.
  private var recorded: [Step] {
    guard let ledger = recipient.ledger else { return [] }
    if ledger.history.isEmpty { return withoutHistory(ledger) }
    let claims = RecordedClaims(ledger, of: event)
    return claims.entries.indices.flatMap { claimSteps(at: $0, of: claims) + decisionSteps(claims.entries[$0]) }
  }

  private func claimSteps(at index: Int, of claims: RecordedClaims) -> [Step] {
    let entry = claims.entries[index]
    let earlier = index > 0 ? claims.entries[index - 1] : nil
    let woken = wakeUp(of: entry)
    var steps: [Step] = []
    if let released = release(of: entry, after: earlier, at: woken) { steps.append(released) }
    let cut = claims.cutCount(before: index)
    if cut > 0 {
      steps.append(Step(.lostClaim, at: woken, text: "\(CountWords.counted(cut, "claim")) in between left out"))
    }
    steps += claims.lost(before: index).map {
      Step(.lostClaim, at: woken, text: RecordedClaims.words(ofLost: $0))
    }
    steps.append(Step(.woken, at: woken, text: "the service was woken \(CauseWords.wake(entry.wokenBy))"))
    steps.append(
      Step(.claimed, at: entry.claimedAt, text: "claimed by \(process(entry.instance)), claim \(entry.claim)"))
    return steps
  }

  /// About when the service was woken, never before the commit.
  ///
  /// The ledger counts from the wake-up to the claim's answer, and has the time at which the database made the claim; the
  /// answer's making and its way back lie between. So wake-ups appear early by that time.
  private func wakeUp(of entry: HistoryEntry) -> Int64 {
    let woken = entry.claimedAt - max(0, entry.wokenMicroseconds)
    return min(max(woken, event.enqueuedAt ?? woken), entry.claimedAt)
  }

  /// The process as people find it: where it is known on which machine it ran, by that.
  private func process(_ id: String) -> String {
    guard let known = instances[id] else { return "instance \(id)" }
    return "\(known.host), process \(known.pid) (instance \(id))"
  }

  /// What ended the wait before a claim.
  private func release(of entry: HistoryEntry, after earlier: HistoryEntry?, at woken: Int64) -> Step? {
    guard let earlier, let due = earlier.dueMicroseconds else { return nil }
    if let cause = entry.releasedBy {
      return Step(
        .released, at: entry.releasedAt ?? woken, text: "released: \(CauseWords.release(cause, kind: event.kind))")
    }
    let text =
      switch earlier.remaining {
      case "held": "the hold was over: its time had come"
      case "waiting": "the route took pushes again, or was tried"
      default: "it was time for the next try"
      }
    return Step(.released, at: min(earlier.claimedAt + due, woken), text: text)
  }

  private func decisionSteps(_ entry: HistoryEntry) -> [Step] {
    let decided = Step(
      .decided, at: entry.claimedAt + entry.decidedMicroseconds, text: Self.verdict(entry),
      details: SuppressionRule.asked(of: entry.situation).map {
        .init(name: $0.name, value: $0.finding(in: entry.situation))
      })
    var attempts = AttemptSteps(entry: entry).steps
    if entry.attemptsLeftOut > 0, let last = attempts.last {
      attempts.append(
        Step(.attempt, at: last.at, text: "\(entry.attemptsLeftOut) more attempts at devices were not kept"))
    }
    guard let last = attempts.last, let due = entry.dueMicroseconds, let remaining = entry.remaining else {
      return [decided] + attempts
    }
    let text =
      remaining == "waiting"
      ? "what is left waits for its route" : "what is left is tried again in \(TimeText.span(due))"
    return [decided] + attempts + [Step(.remaining, at: last.at, text: text)]
  }

  /// The rule that decided, and what follows.
  private static func verdict(_ entry: HistoryEntry) -> String {
    guard let rule = SuppressionRule.first(for: entry.situation) else { return FoldWords.verdict(entry) }
    guard entry.decision == .skipped || entry.remaining == "held" else {
      return "decided: nothing more (\(rule.reason)); what was sent stays sent"
    }
    guard entry.remaining == "held", let due = entry.dueMicroseconds else { return "decided: no push (\(rule.reason))" }
    return "decided: held for \(TimeText.span(due)) (\(rule.reason))"
  }

  /// A row of a service that kept no histories, or one that the host wrote.
  private func withoutHistory(_ ledger: LedgerFacts) -> [Step] {
    var steps: [Step] = []
    if let claimedAt = ledger.claimedAt {
      let woken = ledger.wokenBy.map { ", woken \(CauseWords.wake($0))" } ?? ""
      steps.append(Step(.claimed, at: claimedAt, text: "claimed\(woken), claim \(ledger.attempts); no more was kept"))
    }
    if let sentAt = ledger.sentAt, ledger.decision == .sent {
      steps.append(
        Step(.attempt, at: sentAt, text: "accepted by APNs, for \(CountWords.devices(ledger.devicesAccepted))"))
    }
    return steps
  }
}

// The state now.
extension RecipientStory {
  private var current: [EventExplanation.Step] {
    var steps: [EventExplanation.Step] = []
    if let parked = recipient.parked {
      steps.append(.init(.parked, at: parked.parkedAt, text: "set aside (parked): \(parked.reason)"))
    }
    if let delivery = recipient.delivery, let cause = delivery.releasedBy, let at = delivery.releasedAt {
      steps.append(.init(.released, at: at, text: "released: \(CauseWords.release(cause, kind: event.kind))"))
    }
    if let ledger = recipient.ledger, ledger.opened {
      let at = ledger.openedAt ?? ledger.sentAt ?? ledger.enqueuedAt
      let text = ledger.openedAt == nil ? "opened by the user, at a time that was not kept" : "opened by the user"
      steps.append(.init(.opened, at: at, text: text))
    }
    if let unread = recipient.unread {
      steps.append(UnreadSteps(unread: unread, sentAt: recipient.ledger?.sentAt, now: event.now).step)
    }
    return steps + [.init(.now, at: event.now, text: nowText, details: nowDetails)]
  }

  private var nowText: String {
    guard let delivery = recipient.delivery else { return withoutDelivery }
    if delivery.isClaimed {
      return "now: claim \(delivery.attempts) is at work, or has died; the next may begin at"
        + " \(TimeText.instant(delivery.dueAt))"
    }
    if let lane = delivery.lane { return "now: waits until \(lane) takes pushes" }
    return delivery.dueAt <= event.now
      ? "now: due since \(TimeText.span(event.now - delivery.dueAt)), and nobody has claimed it"
      : "now: \(delivery.state) until \(TimeText.instant(delivery.dueAt)), for another"
        + " \(TimeText.span(delivery.dueAt - event.now))"
  }

  private var withoutDelivery: String {
    if recipient.parked ?? event.parked != nil { return "now: set aside until somebody calls tacet.replay" }
    return recipient.ledger == nil && event.inbox != nil && !recipient.isActor
      ? "now: not decided yet" : "now: nothing remains to be done"
  }

  private var participation: String {
    if event.hostFailure != nil { return "not known" }
    return recipient.isParticipant ? "yes" : "no"
  }

  private var nowDetails: [EventExplanation.Detail] {
    var details = [EventExplanation.Detail(name: "takes part", value: participation)]
    let inUse = recipient.devices.filter { $0.droppedAt == nil }
    details.append(.init(name: "devices", value: inUse.isEmpty ? "none" : inUse.map(\.words).joined(separator: ", ")))
    for device in recipient.devices {
      guard let droppedAt = device.droppedAt else { continue }
      let reason = device.dropReason.map { ": \($0)" } ?? ""
      details.append(.init(name: "dropped", value: "\(device.words), on \(TimeText.instant(droppedAt))\(reason)"))
    }
    if let wishes = recipient.preferences?.words { details.append(.init(name: "wishes", value: wishes)) }
    if let error = recipient.delivery?.error { details.append(.init(name: "last error", value: error)) }
    return details
  }
}

extension DeviceFacts {
  fileprivate var words: String {
    let route = [app, environment].compactMap { $0 }.joined(separator: "/")
    return route.isEmpty ? device : "\(device) (\(route))"
  }
}

extension PreferenceFacts {
  fileprivate var words: String? {
    let words = [
      isOptedOut ? "no pushes of this kind" : nil, isMuted ? "muted here" : nil,
      wantsMentionsOnly ? "mentions only here" : nil,
      quietHoursRemaining.map { "quiet hours for another \(TimeText.span($0))" },
    ].compactMap { $0 }
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }
}

/// The attempts of one claim at the recipient's devices.
struct AttemptSteps {
  let entry: HistoryEntry

  /// In the order in which they ended.
  var steps: [EventExplanation.Step] {
    zip(0..., entry.attempts).map { index, attempt in
      .init(
        .attempt, at: entry.claimedAt + attempt.endedMicroseconds, text: text(of: attempt, at: index),
        details: Self.details(of: attempt))
    }
  }

  private func text(of attempt: HistoryEntry.Attempt, at index: Int) -> String {
    let device = "device \(attempt.device)"
    let service = attempt.service
    let why = attempt.reason.map { RefusalWords.described($0, by: service) } ?? "no reason was given"
    let isSent = attempt.identifier != nil || attempt.status != nil
    switch attempt.verdict {
    case "accepted":
      let form = attempt.content.map { ", \(ContentWords.form($0))" } ?? ""
      return "\(service) accepted the push for \(device)\(attempt.localeWords)\(form)"
        + (followsTrial(index) ? "; its environment was noted" : "")
    case "elsewhere":
      return "not for \(device) in this environment: \(why); the other one was asked next"
    case "dropped": return "\(service) refused \(device): \(why); its token was dropped"
    case "refused": return isSent ? "\(service) refused \(device): \(why)" : "not sent to \(device): \(why)"
    case ShadowedKinds.reason: return "shadow: the push for \(device) was built, and not sent to \(service)"
    case "postponed": return "put off for \(device): \(why)"
    case "waiting":
      return isSent
        ? "waits for the route of \(device): \(why)"
        : "not sent to \(device), because its route takes no pushes: \(why)"
    case "impossible": return "the other environment could tell nothing about \(device): \(why)"
    default: return "\(attempt.verdict) for \(device): \(why)"
    }
  }

  /// Whether the same device was asked in another environment before.
  private func followsTrial(_ index: Int) -> Bool {
    entry.attempts[..<index].contains { $0.device == entry.attempts[index].device && $0.verdict == "elsewhere" }
  }

  private static func details(of attempt: HistoryEntry.Attempt) -> [EventExplanation.Detail] {
    [
      ("route", attempt.route), ("status", attempt.status.map(String.init)), ("reason", attempt.reason),
      (attempt.service == "APNs" ? "apns-id" : "id", attempt.identifier),
    ].compactMap { name, value in value.map { .init(name: name, value: $0) } }
  }
}

extension HistoryEntry.Attempt {
  /// In which locale the push was shown; empty for the words of the event itself.
  fileprivate var localeWords: String {
    guard let locale else { return "" }
    return ", in \(locale), " + (askedLocale.map { "since the device asks for \($0)" } ?? "as the device asks")
  }
}

/// Whether the host was told that a push is unread, in words.
struct UnreadSteps {
  let unread: UnreadFacts
  let sentAt: Int64?
  let now: Int64

  var step: EventExplanation.Step { EventExplanation.Step(.unread, at: min(unread.at, now), text: text) }

  private var text: String {
    switch unread.state {
    case .checkedLater:
      return "if it is not read or opened by \(TimeText.instant(unread.at)), push.unread goes to the host"
    case .waiting:
      guard unread.attempts > 0 else { return "\(unlooked): push.unread is about to be sent to the host" }
      return "\(unlooked): the host has not taken push.unread in \(CountWords.counted(unread.attempts, "attempt"))"
        + " (\(unread.error ?? "no answer yet")); the next is at \(TimeText.instant(unread.at))"
    case .taken:
      let status = unread.status.map { " with \($0)" } ?? ""
      return "\(unlooked): push.unread was sent to the host, taken\(status) at \(TimeText.instant(unread.at))"
    case .cancelled:
      let tried = unread.attempts == 0 ? "" : ", after \(CountWords.counted(unread.attempts, "attempt"))"
      return "no push.unread to the host\(tried): \(cause)"
    case .dead:
      return "\(unlooked): the host has not taken push.unread in \(CountWords.counted(unread.attempts, "attempt"))"
        + " (\(unread.error ?? "no answer")), and nobody tries again"
    }
  }

  private var unlooked: String {
    guard let sentAt = unread.sentAt ?? sentAt, unread.occurredAt > sentAt else { return "not read or opened" }
    return "not read or opened for \(TimeText.span(unread.occurredAt - sentAt))"
  }

  /// Why it was cancelled.
  private var cause: String {
    switch unread.reason {
    case "opened": "the push was opened"
    case "read": "the message was read"
    case "seen": "the user has looked since"
    case "deleted": "what it was about is deleted"
    case "cancelled": "it was cancelled"
    case "left": "the user is no recipient any more"
    case "user_gone": "the user is deleted"
    case "opted_out": "the user wants none"
    case "not_known": "a function of the host failed for an hour"
    case let reason: reason ?? "the reason was not kept"
    }
  }
}
