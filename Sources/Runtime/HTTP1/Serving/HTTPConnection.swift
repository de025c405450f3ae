internal import HTTPTypes
internal import Logging
internal import Reactors

/// Performs the actions of one connection's state machine: reads, writes, calls handlers. Decides nothing about the protocol.
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
      if channel.isSecure { registry.counters.figures.failedHandshakes += 1 }
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

  func proceed(to next: Next, on reactor: isolated Reactor) {
    switch next {
    case .perform(let action): perform(action, on: reactor)
    case .linger: beginLinger(on: reactor)
    case .leave: leave(on: reactor)
    }
  }
}

extension HTTPConnection {
  /// Bytes that a lingering peer may still send before the close.
  /// 256 KiB: a fast client has as much on its way when it is refused.
  private static let lingeringBytesMax = 256 * 1024

  func close(_ reason: CloseReason, on reactor: isolated Reactor) {
    if case .refused(let refusal) = reason {
      registry.counters.countResponse(refusal.status.code, of: timed.take()?.route)
      service.logger.debug("request refused", metadata: ["reason": "\(refusal)", "peer": "\(peerText)"])
    }
    let next = reason.lingers ? Next.linger : .leave
    if send(then: next, on: reactor) { proceed(to: next, on: reactor) }
  }

  var peerText: String { peer?.description ?? "unix" }

  /// Closes at once. A running handler keeps its task, and its answer is dropped.
  func leave(on reactor: isolated Reactor) {
    if case .closed = phase { return }
    phase = .closed
    endRequest()
    uncountBytes()
    channel.prepareToClose()
    channel.close(on: reactor)
    registry.remove(self, on: reactor)
    service.census.leave(isProxy ? nil : peer, admission)
  }

  /// Reads on after the last answer. Closing with unread bytes would reset the connection, which can destroy the answer before
  /// the peer reads it (RFC 9112 section 9.6).
  func beginLinger(on reactor: isolated Reactor) {
    deadline = registry.sweeps + registry.clock.linger
    phase = .finishing
    finish(on: reactor)
  }

  func finish(on reactor: isolated Reactor) {
    if let interest = channel.shutDownWriting() { return wait(for: interest, until: deadline, on: reactor) }
    phase = .lingering(bytesLeft: Self.lingeringBytesMax)
    guard !channel.hasBufferedInput else { return linger(Self.lingeringBytesMax, on: reactor) }
    wait(for: channel.readInterest, until: deadline, on: reactor)
  }

  func linger(_ bytesLeft: Int, on reactor: isolated Reactor) {
    var bytesLeft = bytesLeft
    repeat {
      guard let count = discard() else { return leave(on: reactor) }
      bytesLeft -= count
    } while bytesLeft > 0 && channel.hasBufferedInput
    guard bytesLeft > 0 else { return leave(on: reactor) }
    phase = .lingering(bytesLeft: bytesLeft)
    wait(for: channel.readInterest, until: deadline, on: reactor)
  }

  /// - Returns: the number of bytes discarded; nil at the end of the stream.
  private func discard() -> Int? {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { space in
      switch channel.read(into: space) {
      case .bytes(let count): count
      case .wouldBlock: 0
      case .endOfStream, .failed: nil
      }
    }
  }
}

extension HTTPConnection {
  private static let tlsExpected = ProblemDetails(
    .badRequest, detail: "This port expects TLS: use the scheme https."
  ).response.prepared

  /// Waits for the peer's first byte before it allocates memory for TLS.
  func awaitHandshake(on reactor: isolated Reactor) {
    let time = admission == .reserved ? registry.clock.reserve : registry.clock.handshake
    wait(for: .read, until: registry.sweeps + time, on: reactor)
  }

  func shakeHands(on reactor: isolated Reactor) {
    do throws(TLSError) {
      guard let stream = try stream(on: reactor) else { return }
      if let interest = try stream.continueHandshake() { return wait(for: interest, until: deadline, on: reactor) }
    } catch {
      registry.counters.figures.failedHandshakes += 1
      service.logger.debug("TLS handshake failed", metadata: ["peer": "\(peerText)", "error": "\(error)"])
      return leave(on: reactor)
    }
    channel.handshakeEnded()
    perform(machine.opened(), on: reactor)
  }

  /// TLS over the socket. Nil for a peer that has left or speaks plain HTTP; the connection then ends.
  private func stream(on reactor: isolated Reactor) throws(TLSError) -> TLSStream? {
    switch channel.carrier {
    case .tls(let stream): return stream
    case .plain(let socket):
      guard let tls, let first = socket.peek() else {
        leave(on: reactor)
        return nil
      }
      guard Self.isTLS(first) else {
        refusePlain(on: reactor)
        return nil
      }
      return try channel.secure(socket, with: tls)
    }
  }

  /// A handshake record begins with 22 (RFC 8446 section 5.1), and the hello of an SSL 2 client with the highest bit set. An
  /// HTTP method begins with neither.
  private static func isTLS(_ first: UInt8) -> Bool { first == 22 || first >= 0x80 }

  private func refusePlain(on reactor: isolated Reactor) {
    registry.counters.figures.failedHandshakes += 1
    registry.counters.countResponse(Self.tlsExpected.status.code)
    service.logger.debug("plain HTTP where TLS is expected", metadata: ["peer": "\(peerText)"])
    let bytes = Self.tlsExpected.bytes(date: registry.currentDate())
    // A new connection has room for it.
    _ = bytes.withUnsafeBytes { channel.write($0) }
    beginLinger(on: reactor)
  }
}

// Input and output.
extension HTTPConnection {
  /// Sends the output, then waits for the peer.
  /// - Returns: an action to perform without a wait; nil when an event will bring it.
  func read(_ stretch: ReadStretch, on reactor: isolated Reactor) -> ConnectionAction? {
    guard send(then: .perform(.read(stretch)), on: reactor) else { return nil }
    begin(stretch)
    machine.giveBack(to: &registry.spareBuffers)
    guard countBytes() else { return machine.bytesRefused() }
    if registry.closesQuiet(stretch) {
      // Read once more, to answer a request that has arrived.
      let action = receive(stretch)
      guard action.isRead(of: stretch) else { return action }
      if let close = machine.drainRequested() { return close }
    }
    phase = .reading(stretch)
    wait(for: channel.readInterest, until: endOfStretch, on: reactor)
    if channel.hasBufferedInput { readLater(on: reactor) }
    return nil
  }

  /// Reads input that the kernel will not report again, after the other connections: a peer that never stops sending would
  /// otherwise occupy the reactor.
  private func readLater(on reactor: isolated Reactor) {
    reactor.start {
      guard case .reading(let stretch) = self.phase else { return }
      self.perform(self.receive(stretch), on: reactor)
    }
  }

  func receive(_ stretch: ReadStretch) -> ConnectionAction {
    registry.update(&machine.date)
    machine.borrow(from: &registry.spareBuffers)
    var outcome = ChannelRead.wouldBlock
    _ = machine.receive { space in
      outcome = channel.read(into: space)
      guard case .bytes(let count) = outcome else { return 0 }
      stretchBytes += count
      return count
    }
    return switch outcome {
    case .bytes: machine.received()
    case .wouldBlock: .read(stretch)
    case .endOfStream: machine.peerClosed()
    case .failed: .close(.peerClosed)
    }
  }

  /// Sends the output, usually in one write.
  /// - Parameter next: what to do later if the peer does not accept everything now.
  /// - Returns: whether everything is sent.
  func send(then next: Next, on reactor: isolated Reactor) -> Bool {
    while !machine.output.isEmpty {
      switch write() {
      case .bytes: continue
      case .failed:
        leave(on: reactor)
        return false
      case .wouldBlock:
        waitToSend(then: next, on: reactor)
        return false
      }
    }
    return true
  }

  @discardableResult
  func write() -> ChannelWrite {
    var outcome = ChannelWrite.wouldBlock
    machine.output.send { bytes in
      outcome = channel.write(bytes)
      if case .bytes(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Waits until the socket is ready, at most until the sweep `deadline`.
  func wait(for interest: Interest, until deadline: Int, on reactor: isolated Reactor) {
    self.deadline = deadline
    machine.giveBack(to: &registry.spareBuffers)
    countBytes()
    if !channel.watch(for: interest, on: reactor) { leave(on: reactor) }
  }

  /// The time for sending begins with the first byte that the peer does not accept.
  private func waitToSend(then next: Next, on reactor: isolated Reactor) {
    var end = registry.sweeps + registry.clock.write
    if case .sending = phase { end = deadline }
    phase = .sending(then: next)
    guard countBytes(isAnswering: true) else { return leave(on: reactor) }
    wait(for: channel.writeInterest, until: end, on: reactor)
  }

  /// Records the start of a new stretch. Further bytes of the same stretch do not move its end.
  private func begin(_ stretch: ReadStretch) {
    guard stretch != self.stretch else { return }
    self.stretch = stretch
    stretchStart = registry.sweeps
    stretchBytes = 0
  }

  /// The end of a stretch. That of content moves with the bytes that arrive, as far as its rate allows.
  var endOfStretch: Int {
    let clock = registry.clock
    guard admission != .reserved else { return stretchStart + clock.reserve }
    return switch stretch {
    case .head: stretchStart + clock.head
    case .body: stretchStart + clock.body(afterReceiving: stretchBytes)
    case .idle, nil: stretchStart + clock.idle
    }
  }
}

extension ConnectionAction {
  func isRead(of stretch: ReadStretch) -> Bool {
    if case .read(stretch) = self { true } else { false }
  }
}
