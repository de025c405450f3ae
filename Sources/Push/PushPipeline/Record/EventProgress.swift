internal import PushRules
internal import PushStore
internal import Reactors

/// A claimed event in flight: collects its recipients' outcomes until all are decided.
final class EventProgress {
  let event: PushEvent
  private let wokenBy: WakeCause
  private let decider: Decider
  private let wokenMicroseconds: Int64
  /// When the claim was answered, in monotonic nanoseconds.
  let claimedAt: UInt64
  /// When the database read the clock that dates the claim, in monotonic nanoseconds. Everything that is recorded counts from
  /// there, so that the claim's date plus a measured time is the true time.
  private let datedAt: UInt64
  /// When the claim was asked for, in monotonic nanoseconds. The database dated it later, so a wait that counts from here is
  /// never too short.
  private let askedAt: UInt64
  private var outcomes: [RecipientOutcome] = []
  /// How many of the outcomes an earlier part has covered.
  private var partedCount = 0
  private var deadTargets: [DeadTarget] = []
  private var learntEnvironments: [LearntEnvironment] = []
  private var forms = ContentForms()
  /// By the recipient's place in the event.
  private var sending: [Int: Sending] = [:]
  private(set) var pendingDevices = 0

  private struct Sending {
    var delivery: RecipientDelivery
    let decidedMicroseconds: Int64
    let fold: HistoryEntry.Fold?
    var attempts: [HistoryEntry.Attempt] = []
  }

  /// - Parameters:
  ///   - wokenAt: monotonic nanoseconds of the wake-up. askedAt: of the claim. claimedAt: of its answer.
  init(
    _ event: PushEvent, wokenBy: WakeCause, wokenAt: UInt64, askedAt: UInt64, claimedAt: UInt64,
    decider: Decider = Decider()
  ) {
    self.event = event
    self.wokenBy = wokenBy
    self.decider = decider
    self.claimedAt = claimedAt
    self.askedAt = askedAt
    datedAt = claimedAt &- UInt64(max(0, event.answeredAt - event.claimedAt)) &* 1000
    wokenMicroseconds = Int64(claimedAt &- wokenAt) / 1000
    outcomes.reserveCapacity(event.recipients.count)
  }

  var isDecided: Bool { outcomes.count == event.recipients.count }

  var decided: DecidedEvent {
    var decided = DecidedEvent(
      event: event, outcomes: outcomes, deadTargets: deadTargets, learntEnvironments: learntEnvironments,
      wokenBy: wokenBy.rawValue)
    decided.decider = decider
    return decided
  }

  /// The recipients that APNs has accepted since the last part, with nothing left to do; nil without any.
  func nextPart() -> DecidedEvent? {
    let accepted = outcomes[partedCount...].filter { $0.decision == .sent && $0.remaining == nil }
    partedCount = outcomes.count
    guard !accepted.isEmpty else { return nil }
    var part = DecidedEvent(event: event, outcomes: accepted, deadTargets: [], wokenBy: wokenBy.rawValue)
    part.decider = decider
    part.purpose = .part
    return part
  }

  /// One of the recipients gets no push now.
  func settle(_ outcome: RecipientOutcome, of index: Int) {
    append(outcome, of: index, decidedAfter: elapsed)
  }

  /// Sending begins; every device of the recipient will report.
  func begin(_ index: Int, fold: HistoryEntry.Fold? = nil) {
    let delivery = RecipientDelivery(of: event.recipients[index])
    pendingDevices += delivery.pending
    sending[index] = Sending(delivery: delivery, decidedMicroseconds: elapsed, fold: fold)
  }

  /// The push as a target may get it.
  func form(
    of push: PreparedPush, for target: PushTarget, by policy: ContentPolicy, _ words: @autoclosure () -> TacetWords
  ) throws(PushRequestError) -> DisclosedPush {
    try forms.form(
      of: push, for: target, by: policy,
      about: ContentForms.Event(
        event.subject, sender: event.content?.sender, in: words(), target.locale, issuedAt: event.claimedAt / 1000))
  }

  func add(_ verdict: DeviceVerdict, for target: PushTarget, of index: Int, after trail: AttemptTrail = AttemptTrail())
  {
    pendingDevices -= 1
    sending[index]?.delivery.add(verdict, for: target, elapsed: elapsed, claimedAt: event.claimedAt)
    note(trail, verdict, for: target, of: index)
  }

  /// Keeps the attempts on a target for the history.
  func note(_ trail: AttemptTrail, _ verdict: DeviceVerdict, for target: PushTarget, of index: Int) {
    sending[index]?.attempts += trail.history(of: target, verdict, now: elapsed, claimedAt: datedAt)
  }

  func finishIfComplete(_ index: Int, pacing: @autoclosure () -> RetryPacing) {
    guard let done = sending[index], done.delivery.pending == 0 else { return }
    sending[index] = nil
    deadTargets += done.delivery.deadTargets
    learntEnvironments += done.delivery.learntEnvironments
    var outcome = done.delivery.outcome(pacing())
    outcome.deviceAttempts = done.attempts
    outcome.fold = done.fold
    append(outcome, of: index, decidedAfter: done.decidedMicroseconds)
  }

  private func append(_ outcome: RecipientOutcome, of index: Int, decidedAfter microseconds: Int64) {
    var outcome = outcome
    outcome.recipient = event.recipients[index]
    outcome.wokenMicroseconds = wokenMicroseconds
    outcome.decidedMicroseconds = microseconds
    outcomes.append(outcome)
  }

  /// From the claim to now; never too little.
  var elapsedSinceAsked: Duration { .nanoseconds(Int64(clamping: Reactor.now &- min(askedAt, datedAt))) }

  private var elapsed: Int64 { Int64(Reactor.now &- datedAt) / 1000 }
}
