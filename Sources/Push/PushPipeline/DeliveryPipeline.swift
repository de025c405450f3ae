package import Channels
internal import DequeModule
package import Logging
package import PushRules
package import PushStore
package import Reactors

/// Trigger, gate, compose, deliver, record: one pipeline in each process, all of it on the process's first reactor.
///
/// It sleeps until a wake-up or its next poll, claims what waits in the database, decides each recipient, sends pushes through
/// the deliverers of their channels, and records their outcomes. It may forget everything: whoever owns the conversation next
/// claims it again.
package final class DeliveryPipeline {
  let store: PushDatabase
  /// The lanes, over which single pushes go.
  let sender: LaneSender
  let delivery: EventSender
  let configuration: PipelineConfiguration
  let logger: Logger
  let metrics: PipelineMetrics
  let gate: Gate
  let signal: WakefulPause
  let idle = Signal()
  let waiters = OutcomeWaiters()
  var pacer: LookPacer
  var wakeMark = WakeMark()
  var room = Room()
  /// The shards whose work is claimed here, and until when without another word, in monotonic nanoseconds.
  var owned = OwnedShards.all
  var ownedUntil = UInt64.max
  /// Whether messages may wait that a former owner of new shards has had. They are claimed before new ones, with which they may be of one
  /// burst.
  var hasLeftOver = false
  var bursts = BurstBook()
  /// Pushes that have ended, whose bursts have not heard of it.
  var endedPushes: Deque<(key: BurstBook.Key, message: BurstMessage, isShown: Bool)> = []
  var isDraining = false
  var isStopped = false
  /// Whether releases wait that a host's transaction could not make.
  var hasQueuedReleases = false
  /// Whether Live Activities are following changed rows.
  var isFollowing = false
  /// Whether the database's clock may have been set back, because another server answers.
  var isClockSuspect = false
  var health = ClaimHealth(now: Reactor.now)
  lazy var recorder = Recorder(store: store, logger: logger, owner: self)
  lazy var slowEvents = SlowEvents(writingTo: recorder)
  lazy var holdReview = HoldReview(
    store: store, waiting: configuration.holdReviewWait, logger: logger, pipeline: self)
  lazy var unreadMarker = UnreadMarker(store: store, logger: logger)
  lazy var alarm = DueAlarm(for: self)

  package weak var observer: (any DeliveryPipelineObserver)?

  /// Makes a pipeline; ``run(on:)`` makes it work.
  /// - Parameters:
  ///   - deliverers: one for each channel.
  ///   - metrics: counts the outcomes.
  package init(
    store: PushDatabase, deliverers: [any PushDeliverer], configuration: PipelineConfiguration,
    metrics: PipelineMetrics = PipelineMetrics(), logger: Logger
  ) {
    self.store = store
    sender = LaneSender(deliverers, configuration.lanes, metrics: metrics, logger: logger)
    self.configuration = configuration
    self.logger = logger
    self.metrics = metrics
    delivery = EventSender(over: sender, words: KnownWords(in: store), configuration)
    gate = Gate(policy: configuration.policy)
    signal = WakefulPause(configuration.sleep)
    pacer = LookPacer(PollSchedule(configuration.schedule, now: Reactor.now))
    sender.pipeline = self
    delivery.pipeline = self
  }

  /// Follows the routes of the deliverers, which have taken new settings; pushes that waited for one of them go.
  /// - Parameter renewed: routes with new credentials or another way to their service. Their known faults are forgotten.
  package func followRoutes(renewed: Set<DeliveryRoute> = [], on reactor: isolated Reactor) {
    sender.followRoutes(renewed: renewed)
    wake(.due, on: reactor)
  }
}

/// Hears, on the pipeline's reactor, of events that concern other parts of the process. Must not block.
package protocol DeliveryPipelineObserver: AnyObject {
  /// The pipeline began or stopped polling so fast that the host need not notify it.
  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor)

  /// Another process has given up shards or keeps the host from notifying, or this one leaves the database alone.
  func pipelineOwnershipChanged(on reactor: isolated Reactor)

  /// The pipeline asks how long a commit that notifies takes now.
  func pipelineAsksForNotifyCost(on reactor: isolated Reactor)
}

// What the rest of the process asks about routes, and tells of them.
extension DeliveryPipeline {
  /// Why pushes of a route wait in the database; nil when they go.
  package func fault(of route: DeliveryRoute) -> String? {
    sender.lanes[route].map(\.fault) ?? Lanes.isNotConfigured
  }

  /// Whether pushes of a route go; open for one that is not configured.
  package func breakerState(of route: DeliveryRoute) -> BreakerState {
    sender.lanes[route]?.breaker.state ?? .open
  }

  /// Whether pushes of a route's own device tokens wait for it, as far as this pipeline knows since the route shut. A shut
  /// route without such pushes had only trials of tokens of the app's other environment.
  package func isWaitedFor(_ route: DeliveryRoute) -> Bool {
    sender.lanes[route]?.isWaitedFor ?? false
  }
}

// Waits for what is being recorded: of a drain for all of it, of a caller for one subject.
extension DeliveryPipeline {
  /// Stops claiming and waits until all claimed work is recorded.
  /// - Returns: whether all of it was, within the time. Another process claims the rest later.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    isDraining = true
    alarm.close(on: reactor)
    holdReview.close(on: reactor)
    unreadMarker.close(on: reactor)
    recorder.hurry(on: reactor)
    signal.signal(on: reactor)
    let deadline = Reactor.now + limit.clampedNanoseconds
    while !(isStopped && room.places == 0) {
      let now = Reactor.now
      guard now < deadline else { return false }
      _ = await idle.wait(for: .nanoseconds(Int64(deadline - now)), on: reactor)
    }
    return true
  }

  /// Ends the tries to record what is left after a drain; another process claims it again.
  package func abandon() {
    recorder.giveUp()
  }

  func waitForRecord(of subject: PushSubject, _ limit: Duration, on reactor: isolated Reactor) async {
    recorder.hurry(on: reactor)
    await waiters.wait(for: subject, limit, on: reactor)
  }
}

/// Tasks on this reactor that wait for a subject to be recorded.
final class OutcomeWaiters {
  private var signals: [PushSubject: [Signal]] = [:]

  /// Waits until the subject is recorded here, or the time is over. Another process may record it, so the caller
  /// reads the ledger afterwards in either case.
  func wait(for subject: PushSubject, _ limit: Duration, on reactor: isolated Reactor) async {
    let signal = Signal()
    signals[subject, default: []].append(signal)
    _ = await signal.wait(for: limit, on: reactor)
    remove(signal, for: subject)
  }

  func isAwaited(_ subject: PushSubject) -> Bool { signals[subject] != nil }

  func recorded(_ subject: PushSubject, on reactor: isolated Reactor) {
    for signal in signals[subject] ?? [] { signal.signal(on: reactor) }
  }

  private func remove(_ signal: Signal, for subject: PushSubject) {
    signals[subject]?.removeAll { $0 === signal }
    if signals[subject]?.isEmpty == true { signals[subject] = nil }
  }
}

package struct PipelineConfiguration: Sendable {
  package var policy: SuppressionPolicy

  /// How bursts of messages fold; nil for a push of each message. That is the default here, because most tests and
  /// measurements post many messages to one recipient and count a push for each. The service's setting folds by default.
  package var folding: FoldPolicy?

  /// How long a message may wait for the push before it in its burst, until its facts are read again. Longer than an answer takes.
  var factsLife = Duration.seconds(1)

  package var content = ContentPolicy()

  /// This process, as histories name it; some letters and digits.
  package var instance = ""

  /// How long a claim belongs to this process that is more than taking a new message of its conversations. Longer than a push and
  /// its record may take, because a claim that ran out is sent again. When the process dies, nobody waits for its end.
  package var lease = Duration.seconds(30)

  /// The whole time of one push from its claim on: the waits for a connection, a stream and the answer, resends and the
  /// trial in the other environment included. With the half of the lease that a claim may take, it leaves a sixth of the
  /// lease for the record.
  package var pushLimit = Duration.seconds(10)

  /// New events claimed in one round trip. Rows of a claim are held in memory until they are decided.
  package var eventsPerClaimMax = 128

  /// Due holds and retries claimed in one round trip; fewer than events, so that fresh work goes first.
  package var deliveriesPerClaimMax = 64

  /// Recipients of one event claimed at once; later claims bring the others, in turn with those of other conversations.
  package var recipientsPerClaimMax = ClaimLimits.recipientsMaxDefault

  /// Recipients, and pushes, between their claim and their record. Beyond it nothing is claimed: work waits in the database.
  /// 1000 streams fit one APNs connection.
  package var pushesInFlightMax = 2000

  /// How often the lease of one piece of work may run out before it is parked.
  package var rescuesMax = ClaimLimits.rescuesMaxDefault

  /// How long after its record a hold is checked against the facts once more; see ``HoldReview``. Longer than a host's
  /// transaction takes to commit after its last statement.
  package var holdReviewWait = Duration.seconds(1)

  package var shadow = ShadowedKinds.none

  package var schedule = PollSchedule.Configuration()

  /// Leaves the database alone while nothing happens; nil for a pipeline that polls.
  package var sleep: DatabaseSleep?

  var lanes = LaneConfiguration()

  package var retry = RetryPolicy()

  package init(policy: SuppressionPolicy) { self.policy = policy }

  var decider: Decider { Decider(instance: instance, policy: policy) }
}
