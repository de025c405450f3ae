internal import PushStore
internal import Reactors

/// A claimed event on its way: collects its recipients' outcomes until none is missing.
final class EventProgress {
  let event: PushEvent
  private let wokenBy: WakeCause
  private let wokenMicroseconds: Int64
  /// When the claim was answered, in monotonic nanoseconds.
  let claimedAt: UInt64
  private var outcomes: [RecipientOutcome] = []
  private var deadTokens: [DeadDeviceToken] = []
  private var learntEnvironments: [LearntEnvironment] = []
  /// By the recipient's place in the event.
  private var sending: [Int: Sending] = [:]

  private struct Sending {
    var delivery: RecipientDelivery
    let decidedMicroseconds: Int64
  }

  /// - Parameters:
  ///   - wokenAt: monotonic nanoseconds of the wake-up. claimedAt: of the claim's answer.
  init(_ event: PushEvent, wokenBy: WakeCause, wokenAt: UInt64, claimedAt: UInt64) {
    self.event = event
    self.wokenBy = wokenBy
    self.claimedAt = claimedAt
    wokenMicroseconds = Int64(claimedAt &- wokenAt) / 1000
    outcomes.reserveCapacity(event.recipients.count)
  }

  var isDecided: Bool { outcomes.count == event.recipients.count }

  var decided: DecidedEvent {
    DecidedEvent(
      event: event, outcomes: outcomes, deadTokens: deadTokens, learntEnvironments: learntEnvironments,
      wokenBy: wokenBy.rawValue)
  }

  /// Nothing is to be sent for this recipient.
  func settle(_ outcome: RecipientOutcome) {
    append(outcome, decidedAfter: elapsed)
  }

  /// Sending begins; every device of the recipient will report.
  func begin(_ index: Int) {
    sending[index] = Sending(delivery: RecipientDelivery(of: event.recipients[index]), decidedMicroseconds: elapsed)
  }

  /// What became of the push to one of the recipient's devices.
  func note(_ verdict: DeviceVerdict, for device: PushDevice, of index: Int) {
    sending[index]?.delivery.note(verdict, for: device, elapsed: elapsed, claimedAt: event.claimedAt)
  }

  /// Closes a recipient once all of its devices have reported.
  func finishIfComplete(_ index: Int, pacing: @autoclosure () -> RetryPacing) {
    guard let done = sending[index], done.delivery.pending == 0 else { return }
    sending[index] = nil
    deadTokens += done.delivery.deadTokens
    learntEnvironments += done.delivery.learntEnvironments
    append(done.delivery.outcome(pacing()), decidedAfter: done.decidedMicroseconds)
  }

  private func append(_ outcome: RecipientOutcome, decidedAfter microseconds: Int64) {
    var outcome = outcome
    outcome.wokenMicroseconds = wokenMicroseconds
    outcome.decidedMicroseconds = microseconds
    outcomes.append(outcome)
  }

  private var elapsed: Int64 { Int64(Reactor.now &- claimedAt) / 1000 }
}
