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
  var configurationFault: APNSReason?
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

  func release(_ link: APNSLink, after attempt: APNSOutcome, on reactor: isolated Reactor) {
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
  private func learn(from attempt: APNSOutcome, over link: APNSLink, on reactor: isolated Reactor) {
    if case .answered(let answer) = attempt { learn(from: answer, of: attempt, over: link, on: reactor) }
    // An orderly GOAWAY returns many pushes at once without an outage; a failed connect counts where it fails.
    if case .notProcessed = attempt { return }
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
    from answer: APNSAnswer, of attempt: APNSOutcome, over link: APNSLink, on reactor: isolated Reactor
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

  private func recordRefusal(_ answer: APNSAnswer, over link: APNSLink) {
    let refusal = APNSRefusal(answer, tokenAge: link.token.token.age, clock: clock)
    let isNews = refusal.reason != self.refusal?.reason
    self.refusal = refusal
    if isNews { logger.error("APNs refuses pushes", metadata: ["reason": "\(refusal.words)"]) }
  }
}

// How many connections there are, and when they are opened.
extension APNSConnections {
  /// Opens connections until there are as many as wanted, unless that is under way.
  func connect(on reactor: isolated Reactor) {
    guard needsConnection, !isConnecting else { return }
    isConnecting = true
    reactor.start { await self.keepConnecting(on: reactor) }
  }

  /// Opens another connection when the streams of the present ones stay in use.
  func connectIfBusy(on reactor: isolated Reactor) {
    var (inFlight, streams) = (0, 0)
    for link in links where link.isUsable {
      inFlight += link.inFlight
      if link.isOpenedUp, link.streams > 1 { streams += link.streams }
    }
    let isMoreWanted = demand.wantsMore(
      inFlight: inFlight, streams: streams, connections: links.count, now: Reactor.now)
    if isMoreWanted { connect(on: reactor) }
  }

  /// Closes connections beyond the wanted number, because suspect ones are trusted again: the youngest without pushes, or
  /// else the youngest.
  func closeSurplus(on reactor: isolated Reactor) {
    while usableLinks > demand.wanted {
      let idle = links.lastIndex { $0.isUsable && $0.inFlight == 0 }
      guard let index = idle ?? links.lastIndex(where: \.isUsable) else { return }
      closeLink(at: index, on: reactor)
    }
  }

  private func closeLink(at index: Int, on reactor: isolated Reactor) {
    let link = links.remove(at: index)
    link.connection.drain(on: reactor)
    logger.info(
      "closed a connection to APNs",
      metadata: ["connection": "\(link.number)", "connections": "\(links.count)"])
  }

  private var needsConnection: Bool { !isClosed && !isResting && usableLinks < demand.wanted }

  private func keepConnecting(on reactor: isolated Reactor) async {
    while needsConnection {
      let wait = max(backoff.wait(draw: .random(in: 0..<1)), budget.wait(now: Reactor.now))
      if wait > .zero, await reconsider.wait(for: wait, on: reactor) { continue }
      guard needsConnection else { break }
      await connectOnce(on: reactor)
    }
    isConnecting = false
  }

  private func connectOnce(on reactor: isolated Reactor) async {
    budget.spend(now: Reactor.now)
    do {
      let connection = try await HTTP2Connection.connect(
        host: endpoint.host, port: endpoint.port, context: context, configuration: configuration.http2, observer: self,
        within: configuration.connectLimit, on: reactor)
      guard !isClosed else { return connection.drain(on: reactor) }
      connectionsOpened += 1
      add(APNSLink(connection, number: connectionsOpened, token: tokens.current), on: reactor)
    } catch {
      connectFailed(error)
    }
  }

  private func add(_ link: APNSLink, on reactor: isolated Reactor) {
    lastFailure = nil
    links.append(link)
    logger.info(
      "connected to APNs", metadata: ["connection": "\(link.number)", "connections": "\(links.count)"])
    if links.count > 1, shrinkTimer == nil {
      shrinkTimer = reactor.schedule(after: configuration.shrinkAfter, self)
    }
    // A connection can end before it is listed here.
    connection(link.connection, changedTo: link.connection.state, on: reactor)
    // Another may have recovered meanwhile.
    closeSurplus(on: reactor)
    admitWaiters(on: reactor)
  }

  /// While another connection works, the pool settles for what it has.
  private func connectFailed(_ error: any Error) {
    backoff.failed()
    let words = "cannot connect to \(endpoint.host), port \(endpoint.port): \(error)"
    if usableLinks > 0 {
      demand.settle(for: usableLinks)
      logger.warning("no further connection to APNs", metadata: ["reason": "\(words)"])
    } else {
      slowStart.restart()
      lastFailure = words
      logger.error("cannot connect to APNs", metadata: ["reason": "\(words)"])
    }
  }
}

extension APNSConnections: TimerHandler {
  /// A period without need for the youngest connection closes it.
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    shrinkTimer = nil
    guard links.count > 1 else { return }
    let others = links.dropLast().reduce(0) { $0 + $1.streams }
    let inFlight = links.reduce(0) { $0 + $1.inFlight }
    if demand.endPeriod(inFlight: inFlight, otherStreams: others) {
      closeLink(at: links.count - 1, on: reactor)
      demand.settle(for: links.count)
    }
    if links.count > 1 { shrinkTimer = reactor.schedule(after: configuration.shrinkAfter, self) }
  }
}

// What follows when a connection ends, or can take another number of pushes.
extension APNSConnections: HTTP2ConnectionObserver {
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    guard state != .ready, let index = links.firstIndex(where: { $0.connection === connection }) else { return }
    let link = links.remove(at: index)
    logger.notice(
      "APNs connection ends", metadata: ["connection": "\(link.number)", "reason": "\(state.words)"])
    pace(afterEndOf: link, isProved: link.hasAnswered || state.provesWork)
    lastFailure = state.words
    act(on: state.notice?.consequence ?? .reconnect, on: reactor)
    reconsider.signal(on: reactor)
    connect(on: reactor)
  }

  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {
    if connection.isSuspect {
      let number = links.first { $0.connection === connection }?.number
      logger.warning(
        "APNs connection is silent; pushes take another", metadata: ["connection": "\(number ?? 0)"])
      lastFailure = "APNs does not answer on the connection"
    }
    shortenWaits(on: reactor)
    closeSurplus(on: reactor)
    connect(on: reactor)
    admitWaiters(on: reactor)
  }

  /// Drains a connection that APNs' answers call stuck, and opens another.
  func replace(_ stuck: APNSLink, on reactor: isolated Reactor) {
    guard let index = links.firstIndex(where: { $0 === stuck }) else { return }
    links.remove(at: index)
    pace(afterEndOf: stuck, isProved: stuck.hasAnswered)
    stuck.connection.drain(on: reactor)
    shortenWaits(on: reactor)
    connect(on: reactor)
  }

  private func pace(afterEndOf link: APNSLink, isProved: Bool) {
    if isProved { return backoff.succeeded() }
    backoff.failed()
    slowStart.restart()
  }

  private func act(on consequence: GoAwayNotice.Consequence, on reactor: isolated Reactor) {
    switch consequence {
    case .reconnect: shortenWaits(on: reactor)
    case .reconnectWhenNeeded:
      demand.settle(for: links.count)
      isResting = links.isEmpty && queue.isEmpty
      shortenWaits(on: reactor)
    case .configurationFault(let reason):
      configurationFault = reason
      backoff.refused()
      slowStart.restart()
      isResting = true
      if links.isEmpty { queue.end() }
    }
  }

  /// Pushes that waited for a stream now wait for a connection, for a shorter time.
  private func shortenWaits(on reactor: isolated Reactor) {
    if usableLinks == 0 { queue.shorten(to: connectionDeadline, on: reactor) }
  }
}

extension HTTP2ConnectionState {
  fileprivate var notice: GoAwayNotice? {
    if case .draining(.goAway(let goAway)) = self { GoAwayNotice(goAway) } else { nil }
  }

  fileprivate var words: String {
    switch self {
    case .ready: "connected"
    case .draining(.goAway(let goAway)): "APNs ended the connection: \(GoAwayNotice(goAway).words)"
    case .draining(.streamIDsExhausted): "the connection's stream ids are used up"
    case .draining(.requested): "the connection was closed on this side"
    case .closed(let error): "the connection to APNs was lost: \(error)"
    }
  }

  /// A GOAWAY that names a request says that APNs took it, even if its answer has not been read yet.
  fileprivate var provesWork: Bool {
    guard case .draining(.goAway(let goAway)) = self else { return false }
    return goAway.lastStreamID > 0 && goAway.lastStreamID < .max
  }
}

/// One connection of a pool, the provider token that it shows, and the number of its pushes.
final class APNSLink {
  /// Counts the pool's connections from 1; names it in the log.
  let number: Int
  let connection: HTTP2Connection
  var token: ShownToken

  /// APNs has answered on it, other than by saying that it goes away. Until then its end counts as a failed connect;
  /// otherwise an APNs that accepts and closes would be connected to in a loop.
  var hasAnswered = false

  /// APNs has taken a push on it, or refused one for the push's fault. Until then it carries one push at a time: APNs allows
  /// no more before it has seen a valid token, and one push is enough to prove a connection.
  var isOpenedUp = false

  var inFlight = 0

  var answers = 0

  init(_ connection: HTTP2Connection, number: Int, token: ProviderToken) {
    self.connection = connection
    self.number = number
    self.token = ShownToken(token)
  }

  var isUsable: Bool { !connection.isSuspect }

  var streams: Int { isOpenedUp ? connection.streamsMax : min(1, connection.streamsMax) }

  /// Streams for more pushes; negative when APNs has lowered the number meanwhile.
  var freeStreams: Int { streams - inFlight }
}

/// The provider token that one connection shows. It changes more slowly than the token of the process.
struct ShownToken {
  private(set) var token: ProviderToken
  private var shownSince: UInt64

  private(set) var hasChanged = false

  init(_ token: ProviderToken, now: UInt64 = Reactor.now) {
    self.token = token
    shownSince = now
  }

  /// Moves to a newer token once the connection has shown the present one for long enough.
  mutating func adopt(_ newest: ProviderToken, now: @autoclosure () -> UInt64 = Reactor.now) {
    guard newest != token else { return }
    let now = now()
    guard ProviderTokenSchedule.mayReplace(age: .nanoseconds(Int64(now &- shownSince))) else { return }
    token = newest
    shownSince = now
    hasChanged = true
  }
}
