internal import Reactors

/// Performs the actions of one connection's state machine: reads, writes, calls handlers. Decides nothing about the protocol.
///
/// Its reactor calls it, from accept to close. It has no task: the stack of one would cost an idle connection more memory than
/// everything else, and a busy connection two switches per request.
final class HTTPConnection {
  /// What the next event is for.
  enum Phase {
    case shakingHands
    case reading(ReadStretch)
    case sending(then: Next)
    case handling
    /// The last answer is sent, and the stream ends for the peer.
    case finishing
    case lingering(bytesLeft: Int)
    case closed
  }

  /// What to do when the output is sent.
  enum Next {
    case perform(ConnectionAction)
    case linger
    case leave
  }

  let registry: ConnectionRegistry
  let service: ServiceContext
  /// Nil without TLS.
  let tls: TLSContext?
  /// Nil over a Unix socket.
  let peer: IPAddress?
  let admission: ConnectionCensus.Admission
  /// Whether the peer is a trusted proxy, which may have any number of connections and names its clients.
  let isProxy: Bool
  var channel: ConnectionChannel
  var machine: ConnectionStateMachine
  var phase = Phase.shakingHands
  /// The index in the registry.
  var index = 0
  var isDraining = false
  var stretch: ReadStretch?
  /// When the current stretch of reading has begun, in sweeps of the registry.
  var stretchStart = 0
  var stretchBytes = 0
  /// The sweep at which the current phase ends.
  var deadline = 0
  var requestsLeft: Int
  /// The request whose content is being read, and its handler.
  var request: HTTPServerRequest?
  var handler: HTTPRoute.Handler?
  var permission: CrossOrigins.Permission?
  /// Whether the caller of the last request has proven who it is.
  var isSettled = false
  /// Bytes of the content that a handler has.
  var handledBytes = 0
  /// The connection's bytes in a budget, and the budget.
  var countedBytes = 0
  var countedBudget: BufferBudget?
  /// The number of the current request's route, and when its head arrived; nil without a route.
  var timed: (route: Int, since: UInt64)?
  /// The client that the current request of a proxy is counted for.
  var countedClient: IPAddress?

  init(
    _ socket: Socket, tls: TLSContext?, peer: IPAddress?, isProxy: Bool, admission: ConnectionCensus.Admission,
    registry: ConnectionRegistry, service: ServiceContext
  ) {
    channel = ConnectionChannel(socket)
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

  /// Begins to serve. The reactor and the registry keep the connection alive.
  func open(on reactor: isolated Reactor) throws(SystemError) {
    try channel.open(self, on: reactor)
    registry.add(self, on: reactor)
    if tls == nil { perform(machine.opened(), on: reactor) } else { awaitHandshake(on: reactor) }
  }

  /// Performs actions until the next wait.
  func perform(_ first: ConnectionAction, on reactor: isolated Reactor) {
    var action = first
    while let next = step(action, on: reactor) { action = next }
  }

  /// - Returns: the next action; nil when an event will bring it.
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

  /// Output above which a pipelining peer must accept it before the next request.
  ///
  /// 64 KiB: hundreds of answers in one write. More gains nothing.
  private static let outputBytesMax = 64 * 1024
}

// Events of the reactor and the registry.
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
  func sweep(on reactor: isolated Reactor) {
    guard registry.sweeps >= deadline else { return }
    switch phase {
    case .reading(let stretch): perform(lastRead(stretch), on: reactor)
    case .shakingHands:
      // A peer that has sent nothing has not tried a handshake.
      if channel.isSecure { registry.counters.countFailedHandshake() }
      leave(on: reactor)
    case .sending, .finishing, .lingering: leave(on: reactor)
    case .handling, .closed: break
    }
  }

  /// The service has entered another stage of its drain. Requests are finished first. A connection in its handshake has as long
  /// as one without TLS that waits for its first request.
  func drain(on reactor: isolated Reactor) {
    isDraining = true
    switch phase {
    case .reading(let stretch): perform(.read(stretch), on: reactor)
    case .shakingHands where registry.closesQuiet(.head): leave(on: reactor)
    default: break
    }
  }

  /// Reads once more: bytes that arrived in time count, but single bytes do not extend the deadline.
  private func lastRead(_ stretch: ReadStretch) -> ConnectionAction {
    let action = receive(stretch)
    guard action.isRead(of: stretch), registry.sweeps >= endOfStretch else { return action }
    return machine.deadlinePassed()
  }

  /// The output is sent.
  func proceed(to next: Next, on reactor: isolated Reactor) {
    switch next {
    case .perform(let action): perform(action, on: reactor)
    case .linger: beginLinger(on: reactor)
    case .leave: leave(on: reactor)
    }
  }
}
