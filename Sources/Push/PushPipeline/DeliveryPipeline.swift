package import Channels
package import Logging
package import PushRules
package import PushStore
package import Reactors

/// Trigger, gate, compose, deliver, record: one pipeline per reactor, all of it on that reactor.
///
/// It sleeps until a wake-up or its next poll, claims what waits in the database, decides each recipient, sends pushes through
/// the deliverers of their channels, and records their outcomes. It may forget everything: an event is claimed again when its lease runs out.
package final class DeliveryPipeline {
  let store: PushDatabase
  let deliverers: [DeliveryChannel: any PushDeliverer]
  let configuration: PipelineConfiguration
  let logger: Logger
  let metrics: PipelineMetrics
  let gate: Gate
  let signal: WakefulPause
  let idle = Signal()
  let waiters = OutcomeWaiters()
  var pacer: LookPacer
  var cause = WakeCause.start
  var wokenAt = Reactor.now
  var pushesInFlight = 0
  /// Recipients between claim and record, and at least one for each event.
  var placesInFlight = 0
  /// Of the last claim, which bounds the next one; at least one.
  var placesPerEvent = 1
  var isDraining = false
  var isStopped = false
  /// Whether releases wait that a host's transaction could not make.
  var hasQueuedReleases = false
  /// Whether Live Activities are following changed rows.
  var isFollowing = false
  /// Whether the database's clock may have been set back, because another server answers.
  var isClockSuspect = false
  /// Whether the way to the database failed at the last look.
  var isAway = false
  /// One log line about refused looks at first, and one a minute while they go on; nil before the first refusal.
  var refusalLine: MinuteLine?
  var health = ClaimHealth(now: Reactor.now)
  var foundAt: UInt64?
  var lanes: Lanes
  var jitter = Jitter()
  lazy var recorder = Recorder(store: store, logger: logger, owner: self)
  lazy var slowEvents = SlowEvents(of: self)
  lazy var holdReview = HoldReview(of: self)
  lazy var unreadMarker = UnreadMarker(of: self)
  var needsAlarm = true
  lazy var alarm = DueAlarm(for: self)
  /// What Tacet itself says, such as "+4 more".
  lazy var words = KnownWords(in: store)

  package var content: ContentPolicy

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
    self.deliverers = Dictionary(uniqueKeysWithValues: deliverers.map { ($0.channel, $0) })
    self.configuration = configuration
    self.logger = logger
    self.metrics = metrics
    content = configuration.content
    gate = Gate(policy: configuration.policy)
    signal = WakefulPause(configuration.sleep)
    pacer = LookPacer(PollSchedule(configuration.schedule, now: Reactor.now))
    lanes = Lanes(configuration.lanes, logger: logger)
    lanes.update(deliverers)
  }

  /// Follows the routes of the deliverers, which have taken new settings; pushes that waited for one of them go.
  /// - Parameter renewed: routes with new credentials or another way to their service. Their known faults are forgotten.
  package func followRoutes(renewed: Set<DeliveryRoute> = [], on reactor: isolated Reactor) {
    lanes.update(deliverers.values, renewed: renewed)
    wake(.due, on: reactor)
  }
}
