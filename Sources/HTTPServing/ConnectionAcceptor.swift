internal import Logging
internal import Reactors

/// Accepts the connections of one reactor and starts a task for each.
///
/// Stops watching the listening socket while nothing can be accepted, because a level-triggered socket with a waiting
/// connection would be told in every tick: with the registry full until a connection closes, with no descriptors left for
/// a moment.
final class ConnectionAcceptor {
  /// Connections taken in one tick, so that a storm of them does not starve those already open.
  private static let acceptsPerTickMax = 64

  /// How long accepting rests when the process or the system has no descriptors left.
  ///
  /// 100 ms: nothing tells when one is free again; ten looks a second cost nothing.
  private static let exhaustionPause = Duration.milliseconds(100)

  let address: SocketAddress
  /// `nil` once stopped: only closing it makes the kernel refuse connections.
  private var socket: ListeningSocket?
  private let registry: ConnectionRegistry
  private let service: ServiceContext
  private let isTCP: Bool
  private var registration: Registration?
  private var isPaused = false

  init(_ socket: ListeningSocket, isTCP: Bool, registry: ConnectionRegistry, service: ServiceContext) {
    self.socket = socket
    address = socket.address
    self.isTCP = isTCP
    self.registry = registry
    self.service = service
  }

  func start(on reactor: isolated Reactor) throws(SystemError) {
    guard let socket else { return }
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  /// Takes the connections that the kernel has already made, which closing would reset, and closes the socket.
  func stop(on reactor: isolated Reactor) {
    if !isPaused { acceptWaiting(on: reactor) }
    if let registration { reactor.deregister(registration) }
    registration = nil
    socket = nil
  }

  /// A connection has closed, so there is room.
  func connectionClosed(on reactor: isolated Reactor) {
    if isPaused { resume(on: reactor) }
  }

  private func acceptWaiting(on reactor: isolated Reactor) {
    guard let socket else { return }
    for _ in 0..<Self.acceptsPerTickMax {
      if registry.isFull { return pause(on: reactor) }
      switch socket.accept() {
      case .accepted(let connected, _): accept(connected, on: reactor)
      case .connectionLost: continue
      case .wouldBlock: return
      case .exhausted(let error): return rest(error, on: reactor)
      }
    }
  }

  private func rest(_ error: SystemError, on reactor: isolated Reactor) {
    service.logger.warning("accepting rests: no descriptors left", metadata: ["error": "\(error)"])
    pause(on: reactor)
    reactor.schedule(after: Self.exhaustionPause, self)
  }

  private func accept(_ connected: Socket, on reactor: isolated Reactor) {
    if isTCP { connected.disableDelay() }
    guard let channel = try? ConnectionChannel(connected, on: reactor) else { return }
    registry.add(channel, on: reactor)
    let connection = HTTPConnection(channel, registry: registry, service: service)
    reactor.start {
      await connection.serve(on: reactor)
      self.connectionClosed(on: reactor)
    }
  }

  private func pause(on reactor: isolated Reactor) {
    isPaused = true
    watch([], on: reactor)
  }

  private func resume(on reactor: isolated Reactor) {
    isPaused = false
    watch(.read, on: reactor)
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
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    acceptWaiting(on: reactor)
  }
}

extension ConnectionAcceptor: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    if isPaused { resume(on: reactor) }
  }
}
