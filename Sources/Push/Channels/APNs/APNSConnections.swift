internal import HTTP2
internal import Logging
internal import PushRules
internal import Reactors

/// The pool of one reactor's connections to one APNs host, opened ahead of need and replaced when they drain or die.
///
/// A push takes the least-loaded connection. Without a free stream it waits here rather than on a connection, so that the
/// first free stream of any connection carries it.
final class APNSConnections {
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
  /// Ends a wait before a connect, because the situation has changed.
  let reconsider = Signal()
  var shrinkTimer: TimerToken?
  /// Without a connection until a push asks for one.
  var isResting = false
  var isClosed = false
  var connectionsOpened = 0

  /// Why the latest connection ended or could not be opened, for an operator.
  var lastFailure: String?
  /// APNs has closed a connection because of a setting, and taken nothing since.
  var configurationFault: PushReason?
  /// Why APNs takes no pushes although it answers; nil once it has taken one.
  var refusal: APNSRefusal?
  /// How far the clocks are apart, by the latest answer that was compared.
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

  var usableLinks: Int { links.count { $0.isUsable } }

  var isReady: Bool { usableLinks > 0 || (isResting && configurationFault == nil) }

  /// Why pushes cannot go, for an operator; nil when they can, and before the first connect has ended.
  var failure: String? { (isReady ? nil : lastFailure) ?? refusal?.words }

  /// Opens the first connection unless that has been done.
  func warmUp(on reactor: isolated Reactor) {
    isResting = false
    connect(on: reactor)
  }

  /// A connection with a free stream, if there is one and no push waits. ``release(_:after:on:)`` or ``giveBack(_:on:)``
  /// must follow.
  func admitAtOnce(on reactor: isolated Reactor) -> APNSLink? {
    guard !isClosed, queue.isEmpty, let link = freestLink else { return nil }
    occupy(link, on: reactor)
    return link
  }

  /// A connection with a free stream, after a wait if necessary. ``release(_:after:on:)`` must follow.
  /// - Returns: nil when no stream was free in time; ``lastFailure`` may say why.
  func admit(until deadline: UInt64, on reactor: isolated Reactor) async -> APNSLink? {
    if let link = admitAtOnce(on: reactor) { return link }
    guard !isClosed else { return nil }
    warmUp(on: reactor)
    if usableLinks > 0 { return await queue.wait(until: deadline, on: reactor) }
    guard configurationFault == nil else { return nil }
    return await queue.wait(until: min(deadline, connectionDeadline), on: reactor)
  }

  func release(_ link: APNSLink, after attempt: PushAttempt, on reactor: isolated Reactor) {
    link.inFlight -= 1
    learn(from: attempt, over: link, on: reactor)
    connectIfBusy(on: reactor)
    admitWaiters(on: reactor)
  }

  /// Takes back an admission without a push.
  func giveBack(_ link: APNSLink, on reactor: isolated Reactor) {
    link.inFlight -= 1
    admitWaiters(on: reactor)
  }

  /// Closes after the last answer; turns waiting pushes away.
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

  var connectionDeadline: UInt64 { Reactor.now &+ configuration.connectionWait.clampedNanoseconds }

  /// The usable connection with the fewest pushes, the oldest of several, if it and the pool can take another.
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
    connectIfBusy(on: reactor)
  }
}

// What the ends of pushes say about the connection and the pool.
extension APNSConnections {
  private func learn(from attempt: PushAttempt, over link: APNSLink, on reactor: isolated Reactor) {
    if case .answered(let answer) = attempt { learn(from: answer, of: attempt, over: link, on: reactor) }
    // An orderly GOAWAY returns many pushes at once without an outage; a failed connect counts where it fails.
    if case .failed(.notProcessed) = attempt { return }
    guard attempt.provesConnection else { return slowStart.failed() }
    slowStart.succeeded()
    guard !link.isOpenedUp || refusal != nil || configurationFault != nil else { return }
    link.isOpenedUp = true
    backoff.succeeded()
    configurationFault = nil
    refusal = nil
  }

  /// Compares the clocks by the first answer of each connection, and by refusals, which may come from a wrong clock.
  func compareClocks(with response: HTTP2Response, over link: APNSLink) {
    guard link.answers == 0 || response.status == 403 else { return }
    clock = response.fields["date"].flatMap { ClockDifference(date: $0, now: ClockDifference.wallSeconds) }
    guard let clock, clock.isNotable, link.answers == 0 else { return }
    logger.warning("this machine's clock is wrong, or that of APNs", metadata: ["difference": "\(clock.words)"])
  }

  private func learn(
    from answer: PushAnswer, of attempt: PushAttempt, over link: APNSLink, on reactor: isolated Reactor
  ) {
    let disposition = attempt.disposition
    link.answers += 1
    if link.answers == ConnectBudget.answersForRefund { budget.refund() }
    if disposition != .reconnect { link.hasAnswered = true }
    if disposition == .fixCredentials || disposition == .refreshProviderToken, !attempt.provesConnection {
      recordRefusal(answer, over: link)
    }
    // A new connection sees one token only. A connection that never changed its token would get the same answer again.
    if answer.reason == "TooManyProviderTokenUpdates", link.token.hasChanged { replace(link, on: reactor) }
  }

  private func recordRefusal(_ answer: PushAnswer, over link: APNSLink) {
    let refusal = APNSRefusal(answer, tokenAge: link.token.token.age, clock: clock)
    let isNews = refusal.reason != self.refusal?.reason
    self.refusal = refusal
    if isNews { logger.error("APNs refuses pushes", metadata: ["reason": "\(refusal.words)"]) }
  }
}
