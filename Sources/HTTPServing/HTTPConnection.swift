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
  var stretch: ReadStretch?
  /// When the present stretch of reading is to be over, in sweeps of the registry.
  var deadline = 0
  private var request: PendingRequest?

  init(_ channel: ConnectionChannel, registry: ConnectionRegistry, service: ServiceContext) {
    self.channel = channel
    self.registry = registry
    self.service = service
  }

  /// The loop is flat: each asynchronous call between here and a wait costs a frame and a look at the executor.
  func serve(on reactor: isolated Reactor) async {
    var machine = ConnectionStateMachine(limits: service.configuration.limits, date: registry.currentDate())
    var action = machine.opened()
    while true {
      switch action {
      case .read(let stretch):
        if !sendAtOnce(&machine), await !flush(&machine, on: reactor) {
          action = .close(.peerClosed)
        } else if let close = prepareToRead(stretch, &machine) {
          action = close
        } else {
          let wake = await channel.wait(for: .read, until: deadline, on: reactor)
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

  // Requests.

  private func route(_ head: RequestHead, _ machine: inout ConnectionStateMachine) -> ConnectionAction {
    stretch = nil
    switch service.judge(head) {
    case .process(let request, let bodyBytesMax):
      self.request = request
      return machine.routed(bodyBytesMax: bodyBytesMax)
    case .answer(let response):
      return answer(response, &machine)
    }
  }

  private func takeRequest() -> PendingRequest {
    guard let pending = request.take() else { preconditionFailure("a request is complete that was not routed") }
    return pending
  }

  private func answer(
    _ response: HTTPServerResponse, _ machine: inout ConnectionStateMachine
  ) -> ConnectionAction {
    machine.date = registry.currentDate()
    // While a request is processed the machine only takes note.
    if channel.isDraining { _ = machine.drainRequested() }
    return switch response.content {
    case .plain(let head, let body): machine.answered(head, body: body)
    case .prepared(let prepared): machine.answered(prepared)
    }
  }
}
