internal import HTTP1
internal import Reactors

/// Does what the state machine of one connection orders: reads, writes, calls handlers. Decides nothing about the protocol.
///
/// One task runs it from accept to close, on the reactor that accepted.
final class HTTPConnection {
  /// Above this much waiting output, a pipelining peer is first made to take it.
  ///
  /// 64 KiB: some hundred answers in one write; more gains nothing.
  private static let outputBytesMax = 64 * 1024

  let channel: ConnectionChannel
  let registry: ConnectionRegistry
  let service: ServiceContext
  /// Who has connected; nil over a Unix socket.
  let peer: IPAddress?
  let admission: ConnectionCensus.Admission
  var stretch: ReadStretch?
  /// When the present stretch of reading has begun, in sweeps of the registry.
  var stretchStart = 0
  /// What has arrived in it.
  var stretchBytes = 0
  /// When it is to be over.
  var deadline = 0
  /// What is left of the requests this connection may carry.
  var requestsLeft: Int
  var request: PendingRequest?
  /// Whom a proxy's request in progress is counted for.
  var countedClient: IPAddress?

  init(
    _ channel: ConnectionChannel, peer: IPAddress?, admission: ConnectionCensus.Admission,
    registry: ConnectionRegistry, service: ServiceContext
  ) {
    self.channel = channel
    self.peer = peer
    self.admission = admission
    self.registry = registry
    self.service = service
    requestsLeft = admission == .reserved ? 1 : service.configuration.connections.requestsMax
  }

  /// The loop is flat: each asynchronous call between here and a wait costs a frame and a look at the executor.
  func serve(on reactor: isolated Reactor) async {
    guard await shakeHands(on: reactor) else { return leave(on: reactor) }
    var machine = ConnectionStateMachine(
      limits: service.configuration.limits, date: registry.currentDate(), isSecure: channel.transport.isSecure)
    var action = machine.opened()
    while true {
      switch action {
      case .read(let stretch):
        if !sendAtOnce(&machine), await !flush(&machine, on: reactor) {
          action = .close(.peerClosed)
        } else if let close = prepareToRead(stretch, &machine) {
          action = close
        } else if channel.transport.hasBufferedInput {
          action = read(stretch, after: .ready, &machine)
        } else {
          let wake = await channel.wait(for: channel.transport.readInterest, until: deadline, on: reactor)
          action = read(stretch, after: wake, &machine)
        }
      case .route(let head):
        action = route(head, &machine)
      case .handle(let body):
        let response = await service.respond(to: takeRequest(), body: body, on: reactor)
        if machine.output.count > Self.outputBytesMax { _ = await flush(&machine, on: reactor) }
        action = answer(response, &machine)
      case .close(let reason):
        return await close(reason, &machine, on: reactor)
      }
    }
  }
}
