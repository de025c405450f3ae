internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

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
      var push: ComposedPush?
      for (place, recipient) in event.recipients.enumerated() {
        settle(recipient.index, of: event.progress, own.dropFirst(place).first, sounding: &push, on: reactor)
      }
      recordIfDecided(event.progress, on: reactor)
    }
  }

  private func settle(
    _ index: Int, of progress: EventProgress, _ folded: FoldedMessage?, sounding push: inout ComposedPush?,
    on reactor: isolated Reactor
  ) {
    let recipient = progress.event.recipients[index]
    let fold = folded.map(HistoryEntry.Fold.init)
    var outcome: RecipientOutcome
    switch folded?.decision {
    case nil, .sound:
      push = push ?? compose(progress.event)
      return deliver(push, to: index, of: progress, fold: fold, on: reactor)
    case .update:
      return deliver(update(progress.event, folded, on: reactor), to: index, of: progress, fold: fold, on: reactor)
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
  private func update(_ event: PushEvent, _ folded: FoldedMessage?, on reactor: isolated Reactor) -> ComposedPush? {
    guard let folded else { return nil }
    return compose(event) { content throws(PushRequestError) in
      try (content as? MessagePush).map { message throws(PushRequestError) in
        try ComposedPush(
          message, about: event.subject, updating: folded.first, more: folded.more, in: words.current(on: reactor))
      }
    }
  }
}

extension HistoryEntry.Fold {
  fileprivate init(_ folded: FoldedMessage) {
    self.init(sounds: folded.decision == .sound, more: folded.more, burst: folded.first.id.shortMark)
  }
}
