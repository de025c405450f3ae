internal import APNSCore
internal import HTTP2
internal import Logging
internal import Reactors
internal import TLSStreams

/// One reactor's way to one APNs host: one connection or more, opened ahead of need, replaced when they drain or die.
///
/// A push takes the connection with the fewest others on it. Where no stream is free it waits here rather than on a
/// connection, so that whatever becomes free first carries it.
final class APNSLane {
  let endpoint: APNSEndpoint
  let context: TLSContext
  let configuration: APNSConfiguration
  let tokens: ProviderTokenSource
  let logger: Logger

  /// Connections that take new pushes, oldest first; suspect ones only when they are trusted again.
  var links: [APNSLink] = []
  let queue = AdmissionQueue()
  var demand: PoolDemand
  var slowStart = SlowStart()
  var backoff = ReconnectBackoff()
  var budget: ConnectBudget

  var isConnecting = false
  /// Ends a wait before a connect, because something has changed.
  let reconsider = Signal()
  var shrinkTimer: TimerToken?
  /// No connection, and none opened before a push asks for it.
  var isResting = false
  var isClosed = false
  var connectionsOpened = 0

  /// Why the latest connection ended or could not be opened, for an operator.
  var lastFailure: String?
  /// APNs has closed a connection because of a setting, and taken nothing since.
  var configurationFault: PushReason?
  /// Why APNs takes no pushes though it can be reached; nil once it has taken one.
  var refusal: LaneRefusal?
  /// How far the clocks are apart, as the latest answer with a date told.
  var clock: ClockDifference?

  init(
    to endpoint: APNSEndpoint, context: TLSContext, configuration: APNSConfiguration, tokens: ProviderTokenSource,
    logger: Logger
  ) {
    self.endpoint = endpoint
    self.context = context
    self.configuration = configuration
    self.tokens = tokens
    var logger = logger
    logger[metadataKey: "host"] = "\(endpoint.host)"
    self.logger = logger
    demand = PoolDemand(configuration)
    budget = ConnectBudget(burst: configuration.connectBurst, interval: configuration.connectInterval)
  }

  /// Connections that are not suspect.
  var usableLinks: Int { links.count { $0.isUsable } }

  /// Whether pushes can go: a connection is open, or was closed for being idle and is opened by the next push.
  var isReady: Bool { usableLinks > 0 || (isResting && configurationFault == nil) }

  /// Why pushes cannot go, for an operator; nil when they can, and before the first connect has ended.
  var failure: String? { (isReady ? nil : lastFailure) ?? refusal?.words }

  /// Opens the first connection unless that has been done.
  func warmUp(on reactor: isolated Reactor) {
    isResting = false
    connect(on: reactor)
  }

  /// A connection with a free stream, if there is one and nobody waits. ``release(_:after:on:)`` or
  /// ``giveBack(_:on:)`` must follow.
  func admitAtOnce(on reactor: isolated Reactor) -> APNSLink? {
    guard !isClosed, queue.isEmpty, let link = freestLink else { return nil }
    occupy(link, on: reactor)
    return link
  }

  /// A connection with a free stream, waiting for one if need be. ``release(_:after:on:)`` must follow.
  /// - Returns: nil when none could be had in time; ``lastFailure`` may tell why.
  func admit(until deadline: UInt64, on reactor: isolated Reactor) async -> APNSLink? {
    if let link = admitAtOnce(on: reactor) { return link }
    guard !isClosed else { return nil }
    warmUp(on: reactor)
    if usableLinks > 0 { return await queue.wait(until: deadline, on: reactor) }
    guard configurationFault == nil else { return nil }
    return await queue.wait(until: min(deadline, connectionDeadline), on: reactor)
  }

  /// Takes the end of an admitted push.
  func release(_ link: APNSLink, after attempt: PushAttempt, on reactor: isolated Reactor) {
    link.inFlight -= 1
    note(attempt, over: link, on: reactor)
    noteDemand(on: reactor)
    admitWaiters(on: reactor)
  }

  /// Takes back what was admitted and will not be sent.
  func giveBack(_ link: APNSLink, on reactor: isolated Reactor) {
    link.inFlight -= 1
    admitWaiters(on: reactor)
  }

  /// Closes after the last answer; pushes that wait give up.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    let links = self.links
    self.links = []
    for link in links { link.connection.drain(on: reactor) }
    if let shrinkTimer { reactor.cancel(shrinkTimer) }
    queue.end()
    reconsider.signal(on: reactor)
  }

  func admitWaiters(on reactor: isolated Reactor) {
    while !queue.isEmpty, let link = freestLink {
      occupy(link, on: reactor)
      queue.admitFirst(to: link)
    }
  }

  /// When a push that comes now has waited long enough for a connection.
  var connectionDeadline: UInt64 { Reactor.now &+ configuration.connectionWait.clampedNanoseconds }

  /// The usable connection with the fewest pushes, the oldest of several, if it and the lane can take another.
  private var freestLink: APNSLink? {
    var freest: APNSLink?
    var inFlight = 0
    for link in links where link.isUsable {
      inFlight += link.inFlight
      if link.freeStreams > 0, link.inFlight < freest?.inFlight ?? .max { freest = link }
    }
    return inFlight < slowStart.limit ? freest : nil
  }

  private func occupy(_ link: APNSLink, on reactor: isolated Reactor) {
    link.inFlight += 1
    noteDemand(on: reactor)
  }
}
