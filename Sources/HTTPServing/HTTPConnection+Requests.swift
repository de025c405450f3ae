internal import HTTP1
internal import Reactors

extension HTTPConnection {
  /// Finds out who answers a request, and what comes next; nil when an event will tell.
  func route(_ head: RequestHead, on reactor: isolated Reactor) -> ConnectionAction? {
    stretch = nil
    requestsLeft -= 1
    let (client, isWelcome) = beginRequest(head)
    guard isWelcome else { return answer(HTTPServerResponse(Overload.clientFull)) }
    switch service.judge(head, from: client) {
    case .process(let request, _) where admission == .reserved && !request.matched.isHealthCheck:
      return answer(HTTPServerResponse(Overload.serviceFull))
    case .process(let request, let bodyBytesMax):
      timed = (request.matched.number, Reactor.now)
      let action = machine.routed(bodyBytesMax: bodyBytesMax)
      // Most requests have no content, or have brought it along.
      if case .handle(let body) = action { return handle(request, body, on: reactor) }
      self.request = request
      return action
    case .answer(let response, let route):
      if let route { timed = (route, Reactor.now) }
      return answer(response)
    }
  }

  /// The content of the routed request is complete.
  func handle(_ body: [UInt8], on reactor: isolated Reactor) -> ConnectionAction? {
    guard let request = request.take() else { preconditionFailure("a request is complete that was not routed") }
    return handle(request, body, on: reactor)
  }

  /// - Returns: what comes of the answer; nil when it takes a while.
  private func handle(
    _ request: consuming HTTPServerRequest, _ body: [UInt8], on reactor: isolated Reactor
  ) -> ConnectionAction? {
    request.body = body
    switch request.matched.handler {
    case .immediate(let handler):
      guard let response = service.respond(to: request, handler, on: reactor) else {
        leave(on: reactor)
        return nil
      }
      return answer(response)
    case .suspending(let handler):
      // The answers to earlier requests of a pipeline need not wait for this one.
      if !machine.output.isEmpty { write() }
      phase = .handling
      machine.giveBack(to: &registry.spareBuffers)
      reactor.start { [request] in
        let response = await self.service.respond(to: request, handler, on: reactor)
        self.handled(response, on: reactor)
      }
      return nil
    }
  }

  private func handled(_ response: HTTPServerResponse?, on reactor: isolated Reactor) {
    guard case .handling = phase else { return }
    guard let response else { return leave(on: reactor) }
    registry.update(&machine.date)
    machine.borrow(from: &registry.spareBuffers)
    perform(answer(response), on: reactor)
  }

  private func answer(_ response: HTTPServerResponse) -> ConnectionAction {
    endRequest()
    noteAnswer(response.statusCode)
    // While a request is processed the machine only takes note, and this answer is the last.
    if isDraining || requestsLeft <= 0 { _ = machine.drainRequested() }
    return switch response.content {
    case .plain(let head, let body): machine.answered(head, body: body)
    case .prepared(let prepared): machine.answered(prepared)
    }
  }

  private func noteAnswer(_ status: Int) {
    let timed = self.timed.take()
    registry.counters.noteResponse(status, of: timed?.route)
    if let timed { service.timers.note(nanoseconds: Reactor.now &- timed.since, of: timed.route) }
  }

  /// Finds out whom the request comes from, and counts it for a client behind a proxy.
  ///
  /// - Returns: the client, and whether it may have one more request in progress.
  private func beginRequest(_ head: RequestHead) -> (client: IPAddress?, isWelcome: Bool) {
    guard isProxy else { return (peer, true) }
    let proxies = service.configuration.proxies
    let client = proxies.client(of: head, from: peer)
    guard let client, !proxies.trusts(client) else { return (client, true) }
    guard service.census.begin(for: client) else { return (client, false) }
    countedClient = client
    return (client, true)
  }

  /// The request is answered, or will not be.
  func endRequest() {
    if let client = countedClient.take() { service.census.end(for: client) }
  }
}
