internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors

/// Applies the suppression rules to a recipient and words the result as an outcome.
struct Gate: Sendable {
  let policy: SuppressionPolicy

  /// The outcome for the ledger where nothing is sent now; nil sends to the devices without the push.
  func outcome(for recipient: PushRecipient) -> RecipientOutcome? {
    guard recipient.isParticipant || recipient.situation.isDeleted else {
      return skip(recipient, reason: "not_participant")
    }
    switch policy.decision(for: recipient.situation) {
    case .send: return recipient.targets.isEmpty ? alreadySent(to: recipient) : nil
    case .skip(let reason): return skip(recipient, reason: reason.rawValue)
    case .hold(let duration, let reason): return hold(recipient, for: duration, reason: reason.rawValue)
    }
  }

  /// A push that one device already shows stays sent, and is done.
  private func alreadySent(to recipient: PushRecipient) -> RecipientOutcome {
    RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: recipient.acceptedDevices)
  }

  func skip(_ recipient: PushRecipient, reason: String) -> RecipientOutcome {
    guard recipient.acceptedDevices.isEmpty else { return alreadySent(to: recipient) }
    return RecipientOutcome(userID: recipient.userID, decision: .skipped, reason: reason)
  }

  func hold(_ recipient: PushRecipient, for duration: Duration, reason: String) -> RecipientOutcome {
    guard recipient.acceptedDevices.isEmpty else { return alreadySent(to: recipient) }
    var outcome = RecipientOutcome(
      userID: recipient.userID, decision: .held, reason: reason, due: duration, remaining: .held)
    outcome.heldFor = recipient.situation.heldFor
    outcome.retries = recipient.retries
    outcome.deviceWaits = recipient.deviceWaits
    return outcome
  }
}

// Gate.
extension DeliveryPipeline {
  func process(_ events: [PushEvent], found look: Look, on reactor: isolated Reactor) {
    let claimedAt = Reactor.now
    guard isFresh(look, at: claimedAt) else {
      return logger.warning("claimed too long ago; left to be claimed again", metadata: ["events": "\(events.count)"])
    }
    var foldable: [FoldableEvent] = []
    for event in events {
      let cause = event.origin == .delivery ? WakeCause.due : look.cause
      process(
        EventProgress(
          event, wokenBy: cause, wokenAt: look.wokenAt, askedAt: look.askedAt, claimedAt: claimedAt,
          decider: configuration.decider),
        folding: &foldable, on: reactor)
    }
    if !foldable.isEmpty { reactor.start { [foldable] in await self.fold(foldable, on: reactor) } }
  }

  /// A process or a machine that was stopped must not act on old facts: another may hold the lease by now, and the recipient
  /// may have read. Half of the lease is left for the pushes themselves.
  private func isFresh(_ look: Look, at now: UInt64) -> Bool {
    now &- look.askedAt < configuration.lease.clampedNanoseconds / 2
  }

  private func process(
    _ progress: EventProgress, folding foldable: inout [FoldableEvent], on reactor: isolated Reactor
  ) {
    placesInFlight += progress.event.places
    var push: ComposedPush?
    var folding = FoldableEvent(progress, by: configuration.folding)
    var overdue: [Int: RecipientOutcome] = [:]
    for (index, recipient) in progress.event.recipients.enumerated() {
      if let outcome = gate.outcome(for: recipient) {
        if outcome.hasExpired, progress.event.origin == .delivery {
          overdue[index] = outcome
        } else {
          progress.settle(outcome, of: index)
        }
      } else if folding?.add(index) != true {
        if push == nil { push = compose(progress.event) }
        deliver(push, to: index, of: progress, on: reactor)
      }
    }
    if let folding, !folding.recipients.isEmpty { foldable.append(folding) }
    if overdue.isEmpty { return recordIfDecided(progress, on: reactor) }
    reactor.start { [overdue] in await self.settle(overdue, of: progress, on: reactor) }
  }
}
