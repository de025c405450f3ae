internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors

// Record.
extension DeliveryPipeline: RecorderOwner {
  func recordIfDecided(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard progress.isDecided else { return slowEvents.watch(progress, on: reactor) }
    let isUrgent = progress.event.hasMore || waiters.isAwaited(progress.event.subject) || isDraining
    recorder.add(progress.decided, isUrgent: isUrgent, on: reactor)
  }

  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor) {
    release(events.reduce(0) { $1.purpose == .record ? $0 + $1.event.places : $0 }, on: reactor)
    for decided in events where decided.purpose == .record {
      countOutcomes(of: decided)
      waiters.recorded(decided.event.subject, on: reactor)
      for outcome in decided.outcomes {
        followUp(outcome, of: decided.event, on: reactor)
        if decided.event.origin == .inbox { unreadMarker.add(outcome.userID, on: reactor) }
      }
    }
    guard events.contains(where: { $0.purpose == .record && $0.event.hasMore }) else { return }
    pacer.ask()
    signal.signal(on: reactor)
  }

  func setAside(_ decided: DecidedEvent, on reactor: isolated Reactor) {
    if decided.purpose == .record { release(decided.event.places, on: reactor) }
  }

  /// Makes room for others: the events in these places are recorded, set aside or forgotten.
  func release(_ places: Int, on reactor: isolated Reactor) {
    placesInFlight -= places
    idle.signal(on: reactor)
  }

  private func followUp(_ outcome: RecipientOutcome, of event: PushEvent, on reactor: isolated Reactor) {
    guard let due = outcome.due else { return }
    if outcome.remaining != .waiting || due > .zero { alarm.arm(after: due, on: reactor) }
    // Its lane may be back since it was turned away.
    if let lane = outcome.lane, due == .zero, lanes.isOpen(lane) { wake(.due, on: reactor) }
    guard outcome.remaining == .held else { return }
    holdReview.add(RecordedHold(subject: event.subject, userID: outcome.userID), on: reactor)
  }

  private func countOutcomes(of decided: DecidedEvent) {
    metrics.count(decided)
    for outcome in decided.outcomes {
      // A push leaves one line at info: its final outcome, after all its holds and retries.
      logger.log(
        level: outcome.remaining == nil ? .info : .debug, "push decided",
        metadata: [
          "subject_id": "\(decided.event.subject.id.text)", "kind": "\(decided.event.subject.kind)",
          "user_id": "\(outcome.userID.text)",
          "decision": "\(outcome.decision.rawValue)", "reason": "\(outcome.reason ?? "")",
          "devices": "\(outcome.acceptedDevices.count)",
        ])
    }
  }
}
