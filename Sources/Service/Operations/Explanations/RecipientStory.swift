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
