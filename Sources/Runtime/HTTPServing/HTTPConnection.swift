internal import HTTP1
internal import Reactors
internal import TLSStreams

/// Does what the state machine of one connection orders: reads, writes, calls handlers. Decides nothing about the protocol.
///
/// It is called by its reactor, from accept to close, and waits for nothing itself: a task of its own, with the memory of
/// its stack, would cost an idle connection more than everything else, and a busy one two switches for each request.
final class HTTPConnection {
  /// What the next event is for.
  enum Phase {
    case shakingHands
    case reading(ReadStretch)
    /// What waits is sent first.
    case sending(then: Next)
    /// A task of the handler's runs.
    case handling
    /// The last answer is sent; the peer is told so.
    case finishing
    /// The peer may still send.
    case lingering(bytesLeft: Int)
    case closed
  }

  /// What comes when nothing is left to be sent.
  enum Next {
    case perform(ConnectionAction)
    case linger
    case leave
  }

  let registry: ConnectionRegistry
  let service: ServiceContext
  /// What the connection is to be secured with; nil for none.
  let tls: TLSContext?
  /// Who has connected; nil over a Unix socket.
  let peer: IPAddress?
  let admission: ConnectionCensus.Admission
  /// Whether the peer is a trusted proxy, which may have any number of connections and speaks for others.
  let isProxy: Bool
  var channel: ConnectionChannel
  var machine: ConnectionStateMachine
  var phase = Phase.shakingHands
  /// Where the registry keeps it.
  var index = 0
  /// Whether the service has asked for its end.
  var isDraining = false
  var stretch: ReadStretch?
  /// When the present stretch of reading has begun, in sweeps of the registry.
  var stretchStart = 0
  /// What has arrived in it.
  var stretchBytes = 0
  /// The sweep at which the present phase is to be over.
  var deadline = 0
  /// What is left of the requests this connection may carry.
  var requestsLeft: Int
  /// The request whose content is being read, and who handles it.
  var request: HTTPServerRequest?
  var handler: HTTPRoute.Handler?
  /// Whether the caller of the last request has proven who they are.
  var isSettled = false
  /// Bytes of the content that a handler has.
  var handledBytes = 0
  /// What is counted of the memory that the connection keeps, and where.
  var countedBytes = 0
  var countedBudget: BufferBudget?
  /// The number of the route of the request in progress, and when its head had come; nil without one.
  var timed: (route: Int, since: UInt64)?
  /// Whom a proxy's request in progress is counted for.
  var countedClient: IPAddress?

  init(
    _ socket: Socket, tls: TLSContext?, peer: IPAddress?, isProxy: Bool, admission: ConnectionCensus.Admission,
    registry: ConnectionRegistry, service: ServiceContext
  ) {
    channel = ConnectionChannel(ConnectionTransport(socket))
    self.tls = tls
    machine = ConnectionStateMachine(
      limits: service.configuration.limits, date: registry.currentDate(), isSecure: tls != nil)
    self.peer = peer
    self.admission = admission
    self.isProxy = isProxy
    self.registry = registry
    self.service = service
    requestsLeft = admission == .reserved ? 1 : service.configuration.connections.requestsMax
  }

  /// Begins to serve. The reactor and the registry keep the connection alive until it closes.
  func open(on reactor: isolated Reactor) throws(SystemError) {
    try channel.open(self, on: reactor)
    registry.add(self, on: reactor)
    if tls == nil { perform(machine.opened(), on: reactor) } else { awaitHandshake(on: reactor) }
  }

  /// Goes on until there is something to wait for.
  func perform(_ first: ConnectionAction, on reactor: isolated Reactor) {
    var action = first
    while let next = step(action, on: reactor) { action = next }
  }

  /// - Returns: what comes next; nil when an event will tell.
  private func step(_ action: ConnectionAction, on reactor: isolated Reactor) -> ConnectionAction? {
    switch action {
    case .read(let stretch): return read(stretch, on: reactor)
    case .route(let head):
      let mayGoOn = machine.output.count <= Self.outputBytesMax || send(then: .perform(action), on: reactor)
      return mayGoOn ? route(head, on: reactor) : nil
    case .handle(let body): return handle(body, on: reactor)
    case .close(let reason):
      close(reason, on: reactor)
      return nil
    }
  }

  /// Above this much waiting output, a pipelining peer is first made to take it.
  ///
  /// 64 KiB: some hundred answers in one write; more gains nothing.
  private static let outputBytesMax = 64 * 1024
}

// What the reactor and the registry tell.

extension HTTPConnection: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    switch phase {
    case .reading(let stretch): perform(receive(stretch), on: reactor)
    case .sending(let next): if send(then: next, on: reactor) { proceed(to: next, on: reactor) }
    case .shakingHands: shakeHands(on: reactor)
    case .finishing: finish(on: reactor)
    case .lingering(let bytesLeft): linger(bytesLeft, on: reactor)
    case .handling, .closed: channel.ignore(readiness, on: reactor)
    }
  }
}

extension HTTPConnection {
  /// Called at each sweep of the registry.
  func sweep(on reactor: isolated Reactor) {
    guard registry.sweeps >= deadline else { return }
    switch phase {
    case .reading(let stretch): perform(lastRead(stretch), on: reactor)
    case .shakingHands:
      // Whoever stays without a word has tried nothing.
      if channel.transport.isSecure { registry.counters.noteFailedHandshake() }
      leave(on: reactor)
    case .sending, .finishing, .lingering: leave(on: reactor)
    case .handling, .closed: break
    }
  }

  /// The service's end has come nearer. Who is being answered is finished with first; who is being let in has been told of
  /// no end, and has as long as a client without TLS that has asked nothing.
  func drain(on reactor: isolated Reactor) {
    isDraining = true
    switch phase {
    case .reading(let stretch): perform(.read(stretch), on: reactor)
    case .shakingHands where registry.closesQuiet(.head): leave(on: reactor)
    default: break
    }
  }

  /// Ends everything at once.
  func abort(on reactor: isolated Reactor) { leave(on: reactor) }

  /// Bytes that have come in time are not late, and those that trickle in do not help.
  private func lastRead(_ stretch: ReadStretch) -> ConnectionAction {
    let action = receive(stretch)
    guard action.isRead(of: stretch), registry.sweeps >= endOfStretch else { return action }
    return machine.deadlinePassed()
  }

  /// Nothing is left to be sent.
  func proceed(to next: Next, on reactor: isolated Reactor) {
    switch next {
    case .perform(let action): perform(action, on: reactor)
    case .linger: beginLinger(on: reactor)
    case .leave: leave(on: reactor)
    }
  }
}
