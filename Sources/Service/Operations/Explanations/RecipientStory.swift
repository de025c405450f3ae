internal import PushRules
internal import PushStore

/// What happened to one recipient's push, step by step.
struct RecipientStory {
  private typealias Step = EventExplanation.Step

  private let event: EventFacts
  private let recipient: RecipientFacts
  private let instances: [String: InstanceFacts]

  init(_ event: EventFacts, _ recipient: RecipientFacts, _ instances: [String: InstanceFacts]) {
    (self.event, self.recipient, self.instances) = (event, recipient, instances)
  }

  /// The earliest first; steps of one moment in the order in which they are added.
  var steps: [EventExplanation.Step] {
    let told = recorded + current
    return told.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  /// What the ledger says.
  private var recorded: [Step] {
    guard let ledger = recipient.ledger else { return [] }
    if ledger.history.isEmpty { return withoutHistory(ledger) }
    let claims = RecordedClaims(ledger.history, of: event)
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
    steps += claims.lost(before: index).map { Step(.lostClaim, at: woken, text: RecordedClaims.words(ofLost: $0)) }
    let takeOver = entry.isTakenOver ? ", \(RecordedClaims.takeOver)" : ""
    return steps + [
      Step(.woken, at: woken, text: "the service was woken \(CauseWords.wake(entry.wokenBy))"),
      Step(
        .claimed, at: entry.claimedAt, text: "claimed by \(process(entry.instance)), claim \(entry.claim)\(takeOver)"),
    ]
  }

  /// About when the service was woken, never before the commit.
  ///
  /// The ledger counts from the wake-up to the claim's answer, and has the time at which the database made the claim; the
  /// answer's making and its way back lie between. So wake-ups appear early by that time.
  private func wakeUp(of entry: HistoryEntry) -> Int64 {
    let woken = entry.claimedAt - max(0, entry.wokenMicroseconds)
    return min(max(woken, event.enqueuedAt ?? woken), entry.claimedAt)
  }

  private func process(_ id: String) -> String {
    instances[id]?.words ?? "instance \(id)"
  }

  /// What ended the wait before a claim.
  private func release(of entry: HistoryEntry, after earlier: HistoryEntry?, at woken: Int64) -> Step? {
    guard let earlier, let due = earlier.dueMicroseconds else { return nil }
    if let cause = entry.releasedBy {
      return Step(
        .released, at: entry.releasedAt ?? woken, text: "released: \(CauseWords.release(cause, of: event.noun))")
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
      .decided, at: entry.claimedAt + entry.decidedMicroseconds, text: entry.verdict,
      details: SuppressionRule.asked(of: entry.situation).map {
        .init(name: $0.name, value: $0.finding(entry.situation))
      })
    let attempts = entry.attempts.indices.map { index in
      let attempt = entry.attempts[index]
      return Step(
        .attempt, at: entry.claimedAt + attempt.endedMicroseconds,
        text: attempt.text(after: entry.attempts[..<index]), details: attempt.details)
    }
    guard let last = attempts.last else { return [decided] }
    var steps = [decided] + attempts
    if entry.attemptsLeftOut > 0 {
      steps.append(
        Step(.attempt, at: last.at, text: "\(entry.attemptsLeftOut) more attempts at devices were not kept"))
    }
    if let due = entry.dueMicroseconds, let remaining = entry.remaining {
      let text =
        remaining == "waiting"
        ? "what is left waits for its route" : "what is left is tried again in \(TimeText.span(due))"
      steps.append(Step(.remaining, at: last.at, text: text))
    }
    return steps
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
        Step(
          .attempt, at: sentAt, text: "accepted by APNs, for \(CountWords.counted(ledger.devicesAccepted, "device"))"))
    }
    return steps
  }
}

// The state now.
extension RecipientStory {
  private var current: [EventExplanation.Step] {
    var steps: [EventExplanation.Step] = []
    if let parked = recipient.parked { steps.append(parked.step) }
    if let delivery = recipient.delivery, let cause = delivery.releasedBy, let at = delivery.releasedAt {
      steps.append(.init(.released, at: at, text: "released: \(CauseWords.release(cause, of: event.noun))"))
    }
    if let ledger = recipient.ledger, ledger.opened {
      let at = ledger.openedAt ?? ledger.sentAt ?? ledger.enqueuedAt
      let text = ledger.openedAt == nil ? "opened by the user, at a time that was not kept" : "opened by the user"
      steps.append(.init(.opened, at: at, text: text))
    }
    if let unread = recipient.unread {
      let text = unread.text(sentAt: recipient.ledger?.sentAt)
      steps.append(.init(.unread, at: min(unread.at, event.now), text: text))
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
      ? "now: due since \(TimeText.span(event.now - delivery.dueAt)); \(event.ownerClause)"
      : "now: \(delivery.state) until \(TimeText.instant(delivery.dueAt)), for another"
        + " \(TimeText.span(delivery.dueAt - event.now))"
  }

  private var withoutDelivery: String {
    if recipient.parked ?? event.parked != nil { return "now: set aside until somebody calls tacet.replay" }
    return recipient.ledger == nil && event.inbox != nil && !recipient.isActor
      ? "now: not decided yet" : "now: nothing remains to be done"
  }

  private var nowDetails: [EventExplanation.Detail] {
    let participation = event.hostFailure != nil ? "not known" : recipient.isParticipant ? "yes" : "no"
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

extension HistoryEntry {
  /// The rule that decided, and what follows.
  fileprivate var verdict: String {
    if let reason = SuppressionRule.first(for: situation)?.reason {
      guard decision == .skipped || remaining == "held" else {
        return "decided: nothing more (\(reason)); what was sent stays sent"
      }
      guard remaining == "held", let dueMicroseconds else { return "decided: no push (\(reason))" }
      return "decided: held for \(TimeText.span(dueMicroseconds)) (\(reason))"
    }
    guard let fold else { return "decided: send, because no rule objects" }
    if decision == .skipped {
      return "decided: no push (folded): the notification of its burst shows a newer message; +\(fold.more) more"
    }
    guard let burst = fold.burst?.shortMark else {
      return "decided: send with sound, because no rule objects; it begins a burst"
    }
    return fold.sounds
      ? "decided: send with sound, in the notification of message \(burst), of which nothing is shown: +\(fold.more) more"
      : "decided: send without sound, as an update of the notification of message \(burst): +\(fold.more) more"
  }
}

extension HistoryEntry.Attempt {
  /// - Parameter earlier: the attempts of the same claim before this one.
  fileprivate func text(after earlier: ArraySlice<HistoryEntry.Attempt>) -> String {
    let isSent = identifier != nil || status != nil
    switch verdict {
    case "accepted":
      // Whether the same device was asked in another environment before.
      let isTrial = earlier.contains { $0.device == device && $0.verdict == "elsewhere" }
      let form = content.map { ", \(Self.words(ofContent: $0))" } ?? ""
      return "\(service) accepted the push for device \(device)\(localeWords)\(form)"
        + (isTrial ? "; its environment was noted" : "")
    case "elsewhere":
      return "not for device \(device) in this environment: \(why); the other one was asked next"
    case "dropped": return "\(service) refused device \(device): \(why); its token was dropped"
    case "refused":
      return isSent ? "\(service) refused device \(device): \(why)" : "not sent to device \(device): \(why)"
    case ShadowedKinds.reason: return "shadow: the push for device \(device) was built, and not sent to \(service)"
    case "postponed": return "put off for device \(device): \(why)"
    case "waiting":
      return isSent
        ? "waits for the route of device \(device): \(why)"
        : "not sent to device \(device), because its route takes no pushes: \(why)"
    case "impossible": return "the other environment could tell nothing about device \(device): \(why)"
    default: return "\(verdict) for device \(device): \(why)"
    }
  }

  /// How much of the event's words the push had; follows "accepted the push".
  static func words(ofContent note: String) -> String {
    guard let known = ContentNote(rawValue: note) else { return "with content \(note)" }
    return switch known {
    case .sender: "with the sender's name alone"
    case .none: "without content"
    case .sealed: "sealed for the device"
    case .noKey: "without content, because the device has no key to seal it for"
    }
  }

  /// In which locale the push was shown; empty for the words of the event itself.
  private var localeWords: String {
    guard let locale else { return "" }
    return ", in \(locale), " + (askedLocale.map { "since the device asks for \($0)" } ?? "as the device asks")
  }

  fileprivate var details: [EventExplanation.Detail] {
    [
      ("route", route), ("status", status.map(String.init)), ("reason", reason),
      (service == "APNs" ? "apns-id" : "id", identifier),
    ].compactMap { name, value in value.map { .init(name: name, value: $0) } }
  }
}

extension UnreadFacts {
  /// Whether the host was told that the push is unread.
  func text(sentAt ledgerSentAt: Int64?) -> String {
    let tries = CountWords.counted(attempts, "attempt")
    let since = (sentAt ?? ledgerSentAt).flatMap { occurredAt > $0 ? " for \(TimeText.span(occurredAt - $0))" : nil }
    let unlooked = "not read or opened\(since ?? "")"
    switch state {
    case .checkedLater:
      return "if it is not read or opened by \(TimeText.instant(at)), push.unread goes to the host"
    case .waiting:
      guard attempts > 0 else { return "\(unlooked): push.unread is about to be sent to the host" }
      return "\(unlooked): the host has not taken push.unread in \(tries) (\(error ?? "no answer yet"));"
        + " the next is at \(TimeText.instant(at))"
    case .taken:
      let answer = status.map { " with \($0)" } ?? ""
      return "\(unlooked): push.unread was sent to the host, taken\(answer) at \(TimeText.instant(at))"
    case .cancelled: return "no push.unread to the host\(attempts == 0 ? "" : ", after \(tries)"): \(cancellation)"
    case .dead:
      return
        "\(unlooked): the host has not taken push.unread in \(tries) (\(error ?? "no answer")), and nobody tries again"
    }
  }

  private var cancellation: String {
    switch reason {
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
