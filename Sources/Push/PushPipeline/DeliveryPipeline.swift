public import APNS
public import APNSCore
public import Logging
public import PushKinds
internal import PushRules
public import PushStore
public import Reactors

/// Trigger, gate, compose, deliver, record: one pipeline per reactor, all of it on that reactor.
///
/// It sleeps until a wake-up or its next poll, claims what waits in the database, decides each recipient, sends pushes over
/// the channel, and records their outcomes. It may forget everything: an event is claimed again when its lease runs out.
public final class DeliveryPipeline {
  let store: PushDatabase
  let channel: any PushChannel
  private(set) var configuration: PipelineConfiguration
  let logger: Logger
  let metrics: PipelineMetrics
  let gate: Gate
  let signal = Signal()
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
  /// Whether the database's clock may have been set back, because another server answers.
  var isClockSuspect = false
  /// Whether the way to the database failed at the last look.
  var isAway = false
  /// One log line about refused looks at first, and one a minute while they go on; nil before the first refusal.
  var refusalLine: MinuteLine?
  var health = ClaimHealth(now: Reactor.now)
  /// When a look last brought work.
  var foundAt: UInt64?
  var lanes: Lanes
  var jitter = Jitter()
  lazy var recorder = Recorder(store: store, logger: logger, owner: self)
  lazy var slowEvents = SlowEvents(of: self)
  lazy var holdReview = HoldReview(of: self)
  lazy var unreadMarker = UnreadMarker(of: self)
  var needsAlarm = true
  lazy var alarm = DueAlarm(for: self)

  /// Hears of events that concern other parts of the process.
  public weak var observer: (any DeliveryPipelineObserver)?

  /// Makes a pipeline; ``run(on:)`` makes it work.
  /// - Parameter metrics: counts the outcomes.
  public init(
    store: PushDatabase, channel: any PushChannel, configuration: PipelineConfiguration,
    metrics: PipelineMetrics = PipelineMetrics(), logger: Logger
  ) {
    self.store = store
    self.channel = channel
    self.configuration = configuration
    self.logger = logger
    self.metrics = metrics
    gate = Gate(policy: configuration.policy)
    pacer = LookPacer(PollSchedule(configuration.schedule, now: Reactor.now))
    lanes = Lanes(configuration.lanes, apps: Set(configuration.apps.keys), logger: logger)
  }

  /// Why pushes of a route wait in the database; nil when they go.
  public func fault(of route: PushRoute) -> String? {
    lanes[route].map(\.fault) ?? Lanes.isNotConfigured
  }

  /// Whether pushes of a route go; open for one that is not configured.
  public func breakerState(of route: PushRoute) -> BreakerState {
    lanes[route]?.breaker.state ?? .open
  }

  /// Whether pushes of a route's own device tokens wait for it, as far as this pipeline knows since the route shut. A shut
  /// route without such pushes had only trials of tokens of the app's other environment.
  public func isWaitedFor(_ route: PushRoute) -> Bool {
    lanes[route]?.isWaitedFor ?? false
  }

  /// Takes the apps that are configured from now on; pushes that waited for one of them go.
  /// - Parameters:
  ///   - apps, defaultRoute: as in ``PipelineConfiguration``.
  ///   - renewed: apps with new credentials or another way to APNs. The known faults of their routes are forgotten.
  public func update(
    apps: [BundleIdentifier: APNSEnvironment], defaultRoute: PushRoute, renewed: Set<BundleIdentifier> = [],
    on reactor: isolated Reactor
  ) {
    configuration.apps = apps
    configuration.defaultRoute = defaultRoute
    let all = Set(apps.keys)
    lanes.update(apps: all.subtracting(renewed))
    lanes.update(apps: all)
    wake(.due, on: reactor)
  }

  /// Keeps pushes out of a route that refused another reactor's for a credential or a setting. A probe of this reactor finds
  /// out when they may go.
  public func stop(_ route: PushRoute, because reason: String?, on reactor: isolated Reactor) {
    lanes[route]?.stop(because: reason, now: Reactor.now, draw: jitter.draw())
  }

  /// Works until ``drain(within:on:)``.
  public func run(on reactor: isolated Reactor) async {
    while !isDraining {
      await look(on: reactor)
      guard !isDraining else { break }
      if await !signal.wait(for: pacer.schedule.wait, on: reactor) { rememberWake(.poll) }
    }
    isStopped = true
    alarm.cancel(on: reactor)
    slowEvents.cancel(on: reactor)
    holdReview.cancel(on: reactor)
    unreadMarker.cancel(on: reactor)
    idle.signal(on: reactor)
  }

  /// Makes the pipeline look for work now. Cheap, and safe to call too often.
  public func wake(_ cause: WakeCause, on reactor: isolated Reactor) {
    rememberWake(cause)
    signal.signal(on: reactor)
  }

  /// Makes the pipeline look for work after a time, unless it looks earlier.
  public func expectWork(after wait: Duration, on reactor: isolated Reactor) {
    if !isDraining { alarm.arm(after: wait, on: reactor) }
  }

  /// Stops claiming and waits until all claimed work is recorded.
  /// - Returns: whether all of it was, within the time. Another process claims the rest later.
  public func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    isDraining = true
    recorder.hurry(on: reactor)
    signal.signal(on: reactor)
    let deadline = Reactor.now + limit.clampedNanoseconds
    while !(isStopped && placesInFlight == 0) {
      let now = Reactor.now
      guard now < deadline else { return false }
      _ = await idle.wait(for: .nanoseconds(Int64(deadline - now)), on: reactor)
    }
    return true
  }

  /// Ends the tries to record what is left after a drain; another process claims it again.
  public func abandon() {
    recorder.giveUp()
  }

  /// Waits until this pipeline has recorded a subject, or the time is over.
  public func waitForRecord(of subject: PushSubject, _ limit: Duration, on reactor: isolated Reactor) async {
    recorder.hurry(on: reactor)
    await waiters.wait(for: subject, limit, on: reactor)
  }
}

/// Hears, on the pipeline's reactor, of events that concern other parts of the process. Must not block.
public protocol DeliveryPipelineObserver: AnyObject {
  /// A claim came back full: other reactors may help.
  func pipelineFoundMore(on reactor: isolated Reactor)

  /// The pipeline began or stopped polling so fast that the host need not notify it.
  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor)

  /// APNs refuses a route's pushes for a credential or a setting, and would refuse those of other reactors too.
  func pipelineStopped(_ route: PushRoute, because reason: String?, on reactor: isolated Reactor)

  /// The pipeline asks how long a commit that notifies takes now.
  func pipelineAsksForNotifyCost(on reactor: isolated Reactor)
}
