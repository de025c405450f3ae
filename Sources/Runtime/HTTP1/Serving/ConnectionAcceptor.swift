internal import HTTPTypes
internal import Logging
internal import Reactors

/// Accepts the connections of one reactor, or turns them away.
/// No client is left waiting in the kernel's queue. When the service is full or the process has no descriptors left, the
/// connection is accepted, answered and closed.
final class ConnectionAcceptor {
  /// Connections accepted in one tick, so that a burst does not starve open connections.
  private static let acceptsPerTickMax = 64
  /// How long to stop accepting when not even the reserve descriptor helps.
  /// 100 ms: nothing reports a free descriptor, and ten attempts a second cost nothing.
  private static let exhaustionPause = Duration.milliseconds(100)
  /// Bytes to read from a peer that is turned away, so that closing does not reset the answer.
  private static let discardedBytesMax = 16 * 1024

  let address: SocketAddress
  var tls: TLSContext?
  /// Nil once stopped, because only closing it makes the kernel refuse connections.
  private var socket: ListeningSocket?
  private let registry: ConnectionRegistry
  private let service: ServiceContext
  private let reserve = DescriptorReserve()
  private var registration: Registration?
  private var restLine = MinuteLine()

  init(_ socket: ListeningSocket, tls: TLSContext?, registry: ConnectionRegistry, service: ServiceContext) {
    self.socket = socket
    address = socket.address
    self.tls = tls
    self.registry = registry
    self.service = service
  }

  func start(on reactor: isolated Reactor) throws(SystemError) {
    guard let socket else { return }
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  /// Drops new connection attempts. Connections that the kernel has assigned to this socket are still accepted, except from an
  /// inherited one: there they wait for the next process.
  func leave(on reactor: isolated Reactor) {
    guard let socket, !socket.isInherited else { return close(on: reactor) }
    do {
      try socket.refuseHandshakes()
    } catch {
      service.logger.warning("connections may be reset by the stop", metadata: ["error": "\(error)"])
    }
  }

  /// Accepts the queued connections, which closing would reset, and closes the socket.
  func stop(on reactor: isolated Reactor) {
    var batches = ListeningSocket.backlog / Self.acceptsPerTickMax
    while batches > 0, acceptWaiting(on: reactor) { batches -= 1 }
    close(on: reactor)
  }

  private func close(on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    socket = nil
  }

  /// - Returns: whether the queue may hold more.
  @discardableResult
  private func acceptWaiting(on reactor: isolated Reactor) -> Bool {
    guard let socket else { return false }
    for _ in 0..<Self.acceptsPerTickMax {
      switch socket.accept() {
      case .accepted(let connected, let address): take(connected, address, on: reactor)
      case .connectionLost: continue
      case .wouldBlock: return false
      case .exhausted(let error):
        guard turnAwayOverReserve(from: socket) else {
          rest(error, on: reactor)
          return false
        }
      }
    }
    return true
  }

  private func take(_ connected: Socket, _ address: SocketAddress?, on reactor: isolated Reactor) {
    let peer = address.flatMap { IPAddress($0) }
    let isProxy = service.configuration.proxies.trusts(peer)
    let counted = isProxy ? nil : peer
    let admission = service.census.admit(counted)
    switch admission {
    case .full: return turnAway(connected, .full)
    case .peerFull: return turnAway(connected, .peer)
    case .admitted, .reserved: break
    }
    if peer != nil { connected.disableDelay() }
    let connection = HTTPConnection(
      connected, tls: tls, peer: peer, isProxy: isProxy, admission: admission, registry: registry, service: service)
    do {
      try connection.open(on: reactor)
    } catch {
      service.census.leave(counted, admission)
      turnAway(connected, .descriptors)
    }
  }

  /// Answers without a wait, and closes. With TLS it only closes, because there is no room for a handshake.
  private func turnAway(_ connected: Socket, _ reason: HTTPServiceFigures.TurnAway) {
    registry.counters.figures.turnedAway[reason, default: 0] += 1
    service.logTurnAway(reason)
    guard tls == nil else { return }
    let response = reason == .peer ? Overload.clientFull : Overload.serviceFull
    let bytes = response.bytes(date: registry.currentDate())
    _ = bytes.withUnsafeBytes { connected.write($0) }
    connected.shutDownWriting()
    withUnsafeTemporaryAllocation(byteCount: Self.discardedBytesMax, alignment: 1) { _ = connected.read(into: $0) }
  }

  /// - Returns: whether the reserve descriptor helped.
  private func turnAwayOverReserve(from socket: ListeningSocket) -> Bool {
    var isDone = false
    reserve.lend {
      switch socket.accept() {
      case .accepted(let connected, _):
        turnAway(connected, .descriptors)
        isDone = true
      case .connectionLost, .wouldBlock: isDone = true
      case .exhausted: break
      }
    }
    return isDone
  }

  /// Stops watching the socket meanwhile, because the kernel would report its waiting connections in every tick.
  private func rest(_ error: SystemError, on reactor: isolated Reactor) {
    if let count = restLine.note(now: Reactor.now) {
      let metadata: Logger.Metadata = ["error": "\(error)", "count": "\(count)"]
      service.logger.warning("accepting rests: no descriptors left", metadata: metadata)
    }
    watch([], on: reactor)
    reactor.schedule(after: Self.exhaustionPause, self)
  }

  private func watch(_ interest: Interest, on reactor: isolated Reactor) {
    guard let registration else { return }
    do {
      try reactor.update(registration, to: interest)
    } catch {
      service.logger.error("listening socket cannot be watched", metadata: ["error": "\(error)"])
    }
  }
}

extension ConnectionAcceptor: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) { acceptWaiting(on: reactor) }
}

extension ConnectionAcceptor: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) { watch(.read, on: reactor) }
}

/// The answers to too many connections or requests. Made once, because time is short when they are needed.
enum Overload {
  /// Retry-After in seconds. Connections are short, so a second later there is room, unless this is an attack.
  private static let retryAfterSeconds = "1"
  static let serviceFull = response(.serviceUnavailable, "The service has too many connections.")
  /// The peer has as many connections or requests as it may have (RFC 6585 section 4).
  static let clientFull = response(.tooManyRequests, "Too many connections come from this address.")

  private static func response(_ status: HTTPResponse.Status, _ detail: String) -> PreparedResponse {
    let problem = ProblemDetails(status, detail: detail, fields: [.retryAfter: retryAfterSeconds])
    return problem.response.prepared
  }
}
