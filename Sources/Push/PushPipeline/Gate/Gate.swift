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
    room.places += progress.event.places
    var push: EventPushes?
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
        delivery.deliver(push, to: index, of: progress, on: reactor)
      }
    }
    if let folding, !folding.recipients.isEmpty { foldable.append(folding) }
    if overdue.isEmpty { return recordIfDecided(progress, on: reactor) }
    reactor.start { [overdue] in await self.settle(overdue, of: progress, on: reactor) }
  }
}

/// A message and those of its recipients who may be pushed, unless it folds into the notification of its burst.
struct FoldableEvent {
  let progress: EventProgress
  private(set) var recipients: [(index: Int, message: FoldableMessage)] = []

  /// Nil where nothing folds.
  init?(_ progress: EventProgress, by policy: FoldPolicy?) {
    guard policy != nil, progress.event.subject.kind == MessagePush.name else { return nil }
    self.progress = progress
  }

  /// Takes a recipient in, unless the message is of no conversation.
  mutating func add(_ index: Int) -> Bool {
    guard let message = FoldableMessage(progress.event, to: progress.event.recipients[index]) else { return false }
    recipients.append((index, message))
    return true
  }
}

// Gate: bursts of messages. All that a look has brought is asked about in one statement.
extension DeliveryPipeline {
  /// Asks which of these pushes sound, and sends, holds or skips each. Without an answer they go as if nothing folded: a
  /// needless sound is better than a late push.
  func fold(_ events: [FoldableEvent], on reactor: isolated Reactor) async {
    guard let policy = configuration.folding else { return }
    var answers: ArraySlice<FoldedMessage> = []
    do throws(PostgresError) {
      answers = try await store.fold(events.flatMap { $0.recipients.map(\.message) }, by: policy, on: reactor)[...]
    } catch {
      logger.warning("cannot fold messages; each has its push", metadata: ["error": "\(error)"])
    }
    for event in events {
      // None without an answer.
      let own = answers.prefix(event.recipients.count)
      answers = answers.dropFirst(own.count)
      guard event.progress.elapsedSinceAsked < configuration.lease / 2 else {
        // Another process may soon hold the lease.
        release(event.progress.event.places, on: reactor)
        continue
      }
      var push: EventPushes?
      for (place, recipient) in event.recipients.enumerated() {
        settle(recipient.index, of: event.progress, own.dropFirst(place).first, sounding: &push, on: reactor)
      }
      recordIfDecided(event.progress, on: reactor)
    }
  }

  private func settle(
    _ index: Int, of progress: EventProgress, _ folded: FoldedMessage?, sounding push: inout EventPushes?,
    on reactor: isolated Reactor
  ) {
    let recipient = progress.event.recipients[index]
    let fold = folded.map(HistoryEntry.Fold.init)
    var outcome: RecipientOutcome
    switch folded?.decision {
    case nil, .sound:
      push = push ?? compose(progress.event)
      return delivery.deliver(push, to: index, of: progress, fold: fold, on: reactor)
    case .update:
      return delivery.deliver(
        update(progress.event, folded, on: reactor), to: index, of: progress, fold: fold, on: reactor)
    case .fold: outcome = gate.skip(recipient, reason: DecisionReason.folded.rawValue)
    case .wait(let time):
      // Later than the claim, whose date a due time counts from.
      let wait = Duration.microseconds(max(1, time - progress.event.claimedAt))
      outcome = gate.hold(recipient, for: wait, reason: DecisionReason.folding.rawValue)
    }
    outcome.fold = fold
    progress.settle(outcome, of: index)
  }

  /// The silent update of a burst's notification; nil when it cannot be composed.
  private func update(_ event: PushEvent, _ folded: FoldedMessage?, on reactor: isolated Reactor) -> EventPushes? {
    guard let folded,
      let update = event.content?.update(of: folded.first, more: folded.more, in: delivery.words.current(on: reactor))
    else { return nil }
    return compose(update, of: event)
  }
}

extension HistoryEntry.Fold {
  fileprivate init(_ folded: FoldedMessage) {
    self.init(sounds: folded.decision == .sound, more: folded.more, burst: folded.first.id.shortMark)
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
      release(progress.event.places, on: reactor)
    }
  }
}

extension RecipientOutcome {
  var hasExpired: Bool { decision == .skipped && reason == DecisionReason.expired.rawValue }
}
