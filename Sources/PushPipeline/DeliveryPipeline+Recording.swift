internal import Logging
internal import PushStore
internal import Reactors

// Record.
extension DeliveryPipeline: RecorderOwner {
  func recordIfDecided(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard progress.isDecided else { return }
    recorder.add(progress.decided, on: reactor)
  }

  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor) {
    eventsInFlight -= events.count
    for decided in events {
      noteOutcomes(of: decided)
      waiters.recorded(decided.event.subject, on: reactor)
      for due in decided.outcomes.compactMap(\.due) { alarm.arm(after: due, on: reactor) }
    }
    idle.signal(on: reactor)
  }

  private func noteOutcomes(of decided: DecidedEvent) {
    for outcome in decided.outcomes {
      outcomeCounts[outcome.decision.rawValue, default: 0] += 1
      logger.info(
        "push decided",
        metadata: [
          "subject_id": "\(decided.event.subject.id.lowercased)", "user_id": "\(outcome.userID.lowercased)",
          "decision": "\(outcome.decision.rawValue)", "reason": "\(outcome.reason ?? "")",
          "devices": "\(outcome.acceptedDevices.count)",
        ])
    }
  }
}
