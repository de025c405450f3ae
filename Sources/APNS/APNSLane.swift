internal import APNSCore
internal import HTTP2
internal import Logging
internal import Reactors
internal import TLSStreams

/// One reactor's connection to one APNs host: opened ahead of need, replaced when it drains or dies.
///
/// A GOAWAY makes the next push go to a new connection, with a fresh look-up of the name, while the old one finishes.
final class APNSLane {
  /// A usable connection and the provider token it shows.
  final class Link {
    let connection: HTTP2Connection
    var token: ShownToken

    /// APNs has answered on it with something else than that it goes away. Until then its end counts as a failed connect, or an APNs that accepts and closes would
    /// be connected to in a loop.
    var hasProvedItself = false

    init(_ connection: HTTP2Connection, token: ProviderToken) {
      self.connection = connection
      self.token = ShownToken(token)
    }
  }

  private let endpoint: APNSEndpoint
  private let context: TLSContext
  private let configuration: APNSConfiguration
  private let tokens: ProviderTokenSource
  private let logger: Logger
  private var link: Link?
  private var waiters: [Signal] = []
  private var backoff = ReconnectBackoff()
  private var isConnecting = false
  private var isClosed = false
  private(set) var connectionsOpened = 0

  /// Why there is no connection; nil while there is one, and before the first try ended.
  private(set) var lastFailure: String?

  init(
    to endpoint: APNSEndpoint, context: TLSContext, configuration: APNSConfiguration, tokens: ProviderTokenSource,
    logger: Logger
  ) {
    self.endpoint = endpoint
    self.context = context
    self.configuration = configuration
    self.tokens = tokens
    self.logger = logger
  }

  var isConnected: Bool { link != nil }

  /// Opens a connection unless one is open or being opened.
  func connect(on reactor: isolated Reactor) {
    guard link == nil, !isConnecting, !isClosed else { return }
    isConnecting = true
    reactor.start { await self.keepConnecting(on: reactor) }
  }

  /// The connection, waiting for one if need be.
  /// - Returns: nil when none could be had in time.
  func usableLink(within limit: Duration, on reactor: isolated Reactor) async -> Link? {
    if let link { return link }
    guard !isClosed else { return nil }
    connect(on: reactor)
    let signal = Signal()
    waiters.append(signal)
    _ = await signal.wait(for: limit, on: reactor)
    waiters.removeAll { $0 === signal }
    return link
  }

  /// Lets a connection finish what it has and opens another, because APNs' answers say that this one is stuck.
  func replace(_ stuck: Link, on reactor: isolated Reactor) {
    guard stuck === link else { return }
    noteEnd(isProved: stuck.hasProvedItself)
    link = nil
    stuck.connection.drain(on: reactor)
    connect(on: reactor)
  }

  /// Closes after the last answer; pushes that wait for a connection give up.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    let link = self.link
    self.link = nil
    link?.connection.drain(on: reactor)
    wakeWaiters(on: reactor)
  }

  private func keepConnecting(on reactor: isolated Reactor) async {
    while link == nil, !isClosed {
      let wait = backoff.wait(draw: .random(in: 0..<1))
      if wait > .zero { await reactor.sleep(for: wait) }
      await connectOnce(on: reactor)
    }
    isConnecting = false
    wakeWaiters(on: reactor)
  }

  private func connectOnce(on reactor: isolated Reactor) async {
    do {
      let connection = try await HTTP2Connection.connect(
        host: endpoint.host, port: endpoint.port, context: context, configuration: configuration.http2, observer: self,
        within: configuration.connectLimit, on: reactor)
      guard !isClosed else { return connection.drain(on: reactor) }
      guard connection.state == .ready else { return backoff.failed() }
      connectionsOpened += 1
      lastFailure = nil
      link = Link(connection, token: tokens.current)
      logger.info("connected to APNs", metadata: ["host": "\(endpoint.host)"])
    } catch {
      backoff.failed()
      lastFailure = "\(error)"
      logger.error("cannot connect to APNs", metadata: ["host": "\(endpoint.host)", "error": "\(error)"])
    }
  }

  private func noteEnd(isProved: Bool) {
    if isProved { backoff.succeeded() } else { backoff.failed() }
  }

  private func wakeWaiters(on reactor: isolated Reactor) {
    for waiter in waiters { waiter.signal(on: reactor) }
  }
}

extension APNSLane: HTTP2ConnectionObserver {
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    guard let link, connection === link.connection, state != .ready else { return }
    logger.notice("APNs connection ends", metadata: ["host": "\(endpoint.host)", "state": "\(state)"])
    lastFailure = "\(state)"
    noteEnd(isProved: link.hasProvedItself || state.provesWork)
    self.link = nil
    connect(on: reactor)
  }
}

extension HTTP2ConnectionState {
  /// A GOAWAY that names a request says that APNs took it, also when the answer behind it has not been read yet.
  fileprivate var provesWork: Bool {
    guard case .draining(.goAway(let goAway)) = self else { return false }
    return goAway.lastStreamID > 0 && goAway.lastStreamID < .max
  }
}
