internal import Logging
internal import Postgres
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
    var bursts: Set<BurstBook.Key> = []
    for var event in events {
      event.isTakenOver = isTakenOver(event)
      guard isFresh(event, look, at: claimedAt) else {
        logger.warning(
          "claimed too long ago; left to be claimed again", metadata: ["subject_id": "\(event.subject.id.text)"])
        continue
      }
      let cause = event.origin == .delivery ? WakeCause.due : look.cause
      process(
        EventProgress(
          event, wokenBy: cause, wokenAt: look.wokenAt, askedAt: look.askedAt, claimedAt: claimedAt,
          decider: configuration.decider, epoch: owned.held[event.shard]?.epoch),
        into: &bursts, on: reactor)
    }
    decide(bursts, on: reactor)
  }

  /// A process or a machine that was stopped must not act on old facts: another may hold the lease or own the conversation by now,
  /// and the recipient may have read. Half of a lease is left for the push itself.
  private func isFresh(_ event: PushEvent, _ look: Look, at now: UInt64) -> Bool {
    event.isLeased
      ? now &- look.askedAt < configuration.lease.clampedNanoseconds / 2
      : now < ownedUntil && owned.numbers.contains(event.shard)
  }

  /// A message that was there before this process owned its conversation, and that nobody has leased before.
  private func isTakenOver(_ event: PushEvent) -> Bool {
    event.isLeased && event.origin == .inbox && event.attempts == 1 && event.subject.kind == MessagePush.name
      && event.enqueuedAt <= owned.since
  }

  private func process(
    _ progress: EventProgress, into bursts: inout Set<BurstBook.Key>, on reactor: isolated Reactor
  ) {
    room.add(progress.event)
    var overdue: [Int: RecipientOutcome] = [:]
    for (index, recipient) in progress.event.recipients.enumerated() {
      if let outcome = gate.outcome(for: recipient) {
        if outcome.hasExpired, progress.event.origin == .delivery {
          overdue[index] = outcome
        } else {
          progress.settle(outcome, of: index)
        }
      } else if !fold(index, of: progress, into: &bursts) {
        delivery.deliver(progress.composed { compose(progress.event) }, to: index, of: progress, on: reactor)
      }
    }
    if overdue.isEmpty { return recordIfDecided(progress, on: reactor) }
    reactor.start { [overdue] in await self.settle(overdue, of: progress, on: reactor) }
  }
}

// Gate: held pushes whose message's life has ended.
extension DeliveryPipeline {
  /// An overdue push that was tried has failed, for the reason of its last try; one that never was has expired.
  func settle(
    _ overdue: [Int: RecipientOutcome], of progress: EventProgress, on reactor: isolated Reactor
  ) async {
    do throws(PostgresError) {
      let reasons = try await store.lastFailures(
        of: progress.event.subject, to: overdue.values.map(\.userID), on: reactor)
      for (index, outcome) in overdue {
        let failed = reasons[outcome.userID].map {
          RecipientOutcome(userID: outcome.userID, decision: .failed, reason: $0)
        }
        progress.settle(failed ?? outcome, of: index)
      }
      recordIfDecided(progress, on: reactor)
    } catch {
      logger.warning("cannot ask why pushes failed; they are claimed again", metadata: ["error": "\(error)"])
      release(progress.event, on: reactor)
    }
  }
}

extension RecipientOutcome {
  var hasExpired: Bool { decision == .skipped && reason == DecisionReason.expired.rawValue }
}
