internal import Logging
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
  /// What it says; nil when that has not been asked.
  private var pushes: EventPushes??
  /// By the recipient's place in the event.
  private var sending: [Int: Sending] = [:]
  private(set) var pendingDevices = 0
  /// That of its shard when it was claimed.
  let epoch: Int64?
  /// Whether nothing more is done for it here: another process may have it.
  var isAbandoned = false

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
    decider: Decider = Decider(), epoch: Int64? = nil
  ) {
    self.event = event
    self.epoch = epoch
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
    of push: Push, for target: PushTarget, by policy: ContentPolicy, _ words: @autoclosure () -> TacetWords
  ) throws(PushRequestError) -> Push {
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

  /// - Returns: whether a device shows the push, once all have reported; nil before.
  @discardableResult
  func finishIfComplete(_ index: Int, pacing: @autoclosure () -> RetryPacing) -> Bool? {
    guard let done = sending[index], done.delivery.pending == 0 else { return nil }
    sending[index] = nil
    deadTargets += done.delivery.deadTargets
    learntEnvironments += done.delivery.learntEnvironments
    var outcome = done.delivery.outcome(pacing())
    outcome.deviceAttempts = done.attempts
    outcome.fold = done.fold
    append(outcome, of: index, decidedAfter: done.decidedMicroseconds)
    return outcome.decision == .sent
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

  /// What it says, composed once.
  func composed(_ compose: () -> EventPushes?) -> EventPushes? {
    if let pushes { return pushes }
    let composed = compose()
    pushes = .some(composed)
    return composed
  }

  var burstMessage: BurstMessage { BurstMessage(enqueuedAt: event.enqueuedAt, id: event.subject.id) }

  /// A recipient's message, for its burst.
  func candidate(_ index: Int) -> BurstCandidate {
    let situation = event.recipients[index].situation
    let age = situation.lastSeenAge?.wholeMicroseconds ?? -1
    return BurstCandidate(
      burstMessage, decidedAt: now, isPutOff: event.origin == .delivery, isMentioned: situation.isMentioned,
      lookedAt: age < 0 ? nil : event.claimedAt - age)
  }

  /// By the database's clock; microseconds since 1970.
  var now: Int64 { event.claimedAt + elapsed }

  private var elapsed: Int64 { Int64(Reactor.now &- datedAt) / 1000 }
}

// Record.
extension DeliveryPipeline: RecorderOwner {
  func recordIfDecided(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard !progress.isAbandoned else { return }
    guard progress.isDecided else { return slowEvents.watch(progress, on: reactor) }
    let isUrgent = progress.event.hasMore || waiters.isAwaited(progress.event.subject) || isDraining
    recorder.add(progress.decided, isUrgent: isUrgent, on: reactor)
  }

  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor) {
    for event in events where event.purpose == .record { room.remove(event.event) }
    idle.signal(on: reactor)
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
    if decided.purpose == .record { release(decided.event, on: reactor) }
  }

  /// Makes room for others: the event is set aside or forgotten.
  func release(_ event: PushEvent, on reactor: isolated Reactor) {
    room.remove(event)
    idle.signal(on: reactor)
  }

  private func followUp(_ outcome: RecipientOutcome, of event: PushEvent, on reactor: isolated Reactor) {
    guard let due = outcome.due else { return }
    if outcome.remaining != .waiting || due > .zero { alarm.arm(after: due, on: reactor) }
    // Its lane may be back since it was turned away.
    if let lane = outcome.lane, due == .zero, sender.lanes.isOpen(lane) { wake(.due, on: reactor) }
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

/// Events with accepted recipients that wait for slower ones.
///
/// An event is recorded when its last recipient is decided, which may take as long as a push may. If the process died
/// meanwhile, the next one to claim the event would send to all recipients again. So the accepted ones are written to the
/// ledger early, where claims look.
final class SlowEvents: TimerHandler {
  /// How long an event has from its first look here. APNs answers within some tens of milliseconds, so most events are recorded
  /// as a whole by then.
  private static let patience = Duration.milliseconds(100)

  private let recorder: Recorder
  private var watched: [ObjectIdentifier: (progress: EventProgress, since: UInt64)] = [:]
  private var timer: TimerToken?

  init(writingTo recorder: Recorder) {
    self.recorder = recorder
  }

  func watch(_ progress: EventProgress, on reactor: isolated Reactor) {
    guard progress.event.recipients.count > 1 else { return }
    let id = ObjectIdentifier(progress)
    if watched[id] == nil { watched[id] = (progress, Reactor.now) }
    if timer == nil { timer = reactor.schedule(after: Self.patience / 2, self) }
  }

  /// Writes no more parts.
  func cancel(on reactor: isolated Reactor) {
    watched.removeAll()
    reactor.cancel(&timer)
  }

  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    watched = watched.filter { !$0.value.progress.isDecided && !$0.value.progress.isAbandoned }
    let now = Reactor.now
    for (progress, since) in watched.values where now &- since >= Self.patience.clampedNanoseconds {
      if let part = progress.nextPart() { recorder.add(part, on: reactor) }
    }
    if !watched.isEmpty { self.timer = reactor.schedule(after: Self.patience / 2, self) }
  }
}
