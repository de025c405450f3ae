public import APNS
internal import APNSCore
public import Logging
internal import Postgres
internal import PushRules
public import PushStore
public import Reactors

/// Trigger, gate, compose, deliver, record: one pipeline per reactor, all of it on that reactor.
///
/// It sleeps until somebody wakes it or its schedule says to look, claims what waits in the database, decides each
/// recipient, hands pushes to the channel, and records what became of them. Nothing it knows matters: an event that it
/// forgets is claimed again when its lease runs out.
public final class PushPipeline {
  private let store: PushStore
  private let channel: any PushChannel
  private let configuration: PipelineConfiguration
  private let logger: Logger
  private let gate: Gate
  private let composer: MessageComposer
  private let signal = Signal()
  private let idle = Signal()
  private let waiters = OutcomeWaiters()
  private var schedule: PollSchedule
  private var cause = WakeCause.start
  private var wokenAt = Reactor.now
  private var pushesInFlight = 0
  private var eventsInFlight = 0
  private var isDraining = false
  private var isStopped = false
  private var isFailing = false
  private lazy var recorder = Recorder(store: store, lease: configuration.lease, logger: logger, owner: self)

  private lazy var alarm = DueAlarm(for: self)

  /// Recorded outcomes of recipients, by decision.
  public private(set) var outcomeCounts: [String: Int] = [:]

  /// Told of what concerns other parts of the process.
  public weak var observer: (any PushPipelineObserver)?

  /// Makes a pipeline; ``run(on:)`` makes it work.
  public init(store: PushStore, channel: any PushChannel, configuration: PipelineConfiguration, logger: Logger) {
    self.store = store
    self.channel = channel
    self.configuration = configuration
    self.logger = logger
    gate = Gate(policy: configuration.policy)
    composer = MessageComposer(
      bundleIdentifier: configuration.bundleIdentifier, timeToLive: configuration.policy.timeToLive)
    schedule = PollSchedule(configuration.schedule, now: Reactor.now)
  }

  /// Works until ``drain(within:on:)``.
  public func run(on reactor: isolated Reactor) async {
    while !isDraining {
      await look(on: reactor)
      guard !isDraining else { break }
      if await !signal.wait(for: schedule.wait, on: reactor) { noteWake(.poll) }
    }
    isStopped = true
    alarm.cancel(on: reactor)
    idle.signal(on: reactor)
  }

  /// Makes the pipeline look for work now. Cheap, and safe to call too often.
  public func wake(_ cause: WakeCause, on reactor: isolated Reactor) {
    noteWake(cause)
    signal.signal(on: reactor)
  }

  /// Stops claiming and waits until what was claimed is recorded.
  /// - Returns: whether all of it was, within the time; the rest is claimed again later by somebody else.
  public func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    isDraining = true
    signal.signal(on: reactor)
    let deadline = Reactor.now + limit.clampedNanoseconds
    while !(isStopped && eventsInFlight == 0) {
      let now = Reactor.now
      guard now < deadline else { return false }
      _ = await idle.wait(for: .nanoseconds(Int64(deadline - now)), on: reactor)
    }
    return true
  }

  /// Waits until a subject is recorded by this pipeline, or the time is over.
  public func waitForRecord(of subject: PushSubject, _ limit: Duration, on reactor: isolated Reactor) async {
    await waiters.wait(for: subject, limit, on: reactor)
  }
}

// Trigger.
extension PushPipeline {
  /// The first cause since the last look names it.
  private func noteWake(_ newCause: WakeCause) {
    guard cause == .poll || wokenAt == 0 else { return }
    cause = newCause
    wokenAt = Reactor.now
  }

  private func look(on reactor: isolated Reactor) async {
    let capacity = configuration.pushesInFlightMax - max(pushesInFlight, eventsInFlight)
    guard capacity > 0 else { return }
    let (cause, wokenAt) = (self.cause, self.wokenAt == 0 ? Reactor.now : self.wokenAt)
    (self.cause, self.wokenAt) = (.poll, 0)
    do throws(PostgresError) {
      let events = try await store.claim(
        eventsMax: min(configuration.eventsPerClaimMax, capacity),
        deliveriesMax: min(configuration.deliveriesPerClaimMax, capacity), lease: configuration.lease,
        on: reactor)
      noteLook(events, on: reactor)
      process(events, wokenBy: cause, wokenAt: wokenAt, on: reactor)
      if cause == .due || cause == .start { try await setAlarm(on: reactor) }
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  private func setAlarm(on reactor: isolated Reactor) async throws(PostgresError) {
    guard let wait = try await store.timeUntilNextDue(on: reactor), !isDraining else { return }
    alarm.arm(after: wait, on: reactor)
  }

  private func noteLook(_ events: [PushEvent], on reactor: isolated Reactor) {
    if isFailing { logger.notice("the database answers again") }
    isFailing = false
    let wasBusy = schedule.isBusy
    schedule.looked(found: events.count, now: Reactor.now)
    if schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(schedule.isBusy, on: reactor) }
    guard events.count >= configuration.eventsPerClaimMax else { return }
    signal.signal(on: reactor)
    observer?.pipelineFoundMore(on: reactor)
  }

  private func noteFailure(_ error: PostgresError, on reactor: isolated Reactor) {
    if !isFailing { logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error)"]) }
    isFailing = true
    let wasBusy = schedule.isBusy
    schedule.failed()
    if wasBusy { observer?.pipelineBusyChanged(false, on: reactor) }
  }
}

// Gate, compose, deliver.
extension PushPipeline {
  private func process(_ events: [PushEvent], wokenBy cause: WakeCause, wokenAt: UInt64, on reactor: isolated Reactor) {
    let claimedAt = Reactor.now
    for event in events {
      let cause = event.origin == .delivery ? WakeCause.due : cause
      process(EventProgress(event, wokenBy: cause, wokenAt: wokenAt, claimedAt: claimedAt), on: reactor)
    }
  }

  private func process(_ progress: EventProgress, on reactor: isolated Reactor) {
    eventsInFlight += 1
    var alert: PreparedAlert?
    for (index, recipient) in progress.event.recipients.enumerated() {
      switch gate.decision(for: recipient) {
      case .settled(let outcome):
        progress.settle(outcome)
      case .send:
        if alert == nil { alert = compose(progress.event) }
        deliver(alert, to: index, of: progress, on: reactor)
      }
    }
    recordIfDecided(progress, on: reactor)
  }

  private func compose(_ event: PushEvent) -> PreparedAlert? {
    do throws(PushRequestError) {
      return try composer.alert(for: event)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.lowercased)", "error": "\(error)"])
      return nil
    }
  }

  private func deliver(
    _ alert: PreparedAlert?, to index: Int, of progress: EventProgress, on reactor: isolated Reactor
  ) {
    progress.begin(index)
    let recipient = progress.event.recipients[index]
    for device in recipient.devices {
      do throws(PushRequestError) {
        guard let alert else { throw PushRequestError(.payloadEmpty, "there is nothing to say") }
        let request = try composer.request(alert, for: device, of: recipient, in: progress.event)
        send(request, to: device, of: index, in: progress, on: reactor)
      } catch {
        progress.noteUnsendable(error.code.rawValue, of: index)
        finishIfComplete(index, of: progress)
      }
    }
  }

  private func send(
    _ request: PushRequest, to device: PushDevice, of index: Int, in progress: EventProgress,
    on reactor: isolated Reactor
  ) {
    pushesInFlight += 1
    let environment = device.environment.flatMap(APNSEnvironment.init) ?? configuration.defaultEnvironment
    reactor.start {
      let attempt = await self.channel.send(request, to: environment, on: reactor)
      self.pushesInFlight -= 1
      progress.note(attempt, for: device, of: index)
      self.finishIfComplete(index, of: progress)
      self.recordIfDecided(progress, on: reactor)
    }
  }

  private func finishIfComplete(_ index: Int, of progress: EventProgress) {
    progress.finishIfComplete(index) { minimum in
      configuration.retry.wait(
        afterAttempts: progress.event.attempts, minimum: minimum, draw: .random(in: 0..<1))
    }
  }
}

extension PushPipeline: WakeHandler {
  /// The database has something, or may have.
  public func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }
}

// Record.
extension PushPipeline: RecorderOwner {
  private func recordIfDecided(_ progress: EventProgress, on reactor: isolated Reactor) {
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
