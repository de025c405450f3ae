internal import CoreMetrics
internal import Reactors

extension HTTPConnection {
  /// Routes a request.
  /// - Returns: the next action; nil when an event will bring it.
  func route(_ head: RequestHead, on reactor: isolated Reactor) -> ConnectionAction? {
    stretch = nil
    isSettled = false
    permission = service.configuration.crossOrigins.permission(for: head)
    requestsLeft -= 1
    let (client, isWelcome) = beginRequest(head)
    guard isWelcome else { return answer(HTTPServerResponse(Overload.clientFull)) }
    switch service.judge(head, from: client) {
    case .process(let request, _) where admission == .reserved && !request.matched.isHealthCheck:
      return answer(HTTPServerResponse(Overload.serviceFull))
    case .process(let request, let bodyBytesMax):
      timed = (request.matched.number, Reactor.now)
      switch request.matched.handler {
      case .immediate, .suspending:
        return read(request, bodyBytesMax, for: request.matched.handler, on: reactor)
      case .admitting(let admission):
        admit(request, bodyBytesMax, admission, on: reactor)
        return nil
      }
    case .answer(let response, let route):
      if let route { timed = (route, Reactor.now) }
      return answer(response)
    }
  }

  /// Reads the content for its handler. Most requests have none, or it has arrived with the head.
  private func read(
    _ request: HTTPServerRequest, _ bodyBytesMax: Int, for handler: HTTPRoute.Handler, on reactor: isolated Reactor
  ) -> ConnectionAction? {
    let action = machine.routed(bodyBytesMax: bodyBytesMax)
    self.request = request
    self.handler = handler
    if case .handle(let body) = action { return handle(body, on: reactor) }
    return action
  }

  func handle(_ body: [UInt8], on reactor: isolated Reactor) -> ConnectionAction? {
    guard var request = request.take(), let handler = handler.take() else {
      preconditionFailure("a request is complete that was not routed")
    }
    request.body = body
    switch handler {
    case .immediate(let handler):
      guard let response = service.respond(to: request, handler, on: reactor) else {
        leave(on: reactor)
        return nil
      }
      return answer(response)
    case .suspending(let handler):
      pause(keeping: body.count, on: reactor)
      reactor.start { [request] in
        let response = await self.service.respond(to: request, handler, on: reactor)
        self.handled(response, on: reactor)
      }
      return nil
    case .admitting: preconditionFailure("an admission handles nothing itself")
    }
  }

  private func pause(keeping bodyBytes: Int, on reactor: isolated Reactor) {
    // Answers to earlier requests of a pipeline do not wait for this one.
    if !machine.output.isEmpty { write() }
    phase = .handling
    handledBytes = bodyBytes
    machine.giveBack(to: &registry.spareBuffers)
    countBytes()
  }

  /// Asks whether to admit the caller, then continues with the content.
  private func admit(
    _ request: HTTPServerRequest, _ bodyBytesMax: Int, _ admission: @escaping HTTPAdmission,
    on reactor: isolated Reactor
  ) {
    pause(keeping: 0, on: reactor)
    reactor.start {
      do {
        let admitted = try await admission(request, reactor)
        guard case .handling = self.phase else { return }
        self.isSettled = admitted.isProven
        guard let body = self.begin(request, admitted, bodyBytesMax, on: reactor) else { return }
        var request = request
        request.body = body
        let response = await self.service.respond(to: request, admitted.handler, on: reactor)
        self.handled(response, on: reactor)
      } catch {
        self.handled(self.service.answer(to: error, of: request), on: reactor)
      }
    }
  }

  /// - Returns: the content, if it is complete; nil when an event will bring it, or the request is answered.
  private func begin(
    _ request: HTTPServerRequest, _ admitted: HTTPAdmitted, _ bodyBytesMax: Int, on reactor: isolated Reactor
  ) -> [UInt8]? {
    let bodyBytesMax = admitted.bodyBytesMax ?? bodyBytesMax
    if case .length(let length) = request.head.framing, length > bodyBytesMax {
      handled(ProblemDetails.contentTooLarge.response, on: reactor)
      return nil
    }
    let action = machine.routed(bodyBytesMax: bodyBytesMax)
    if case .handle(let body) = action {
      pause(keeping: body.count, on: reactor)
      return body
    }
    self.request = request
    handler = .suspending(admitted.handler)
    perform(action, on: reactor)
    return nil
  }

  private func handled(_ response: HTTPServerResponse?, on reactor: isolated Reactor) {
    guard case .handling = phase else { return }
    guard let response else { return leave(on: reactor) }
    handledBytes = 0
    registry.update(&machine.date)
    machine.borrow(from: &registry.spareBuffers)
    perform(answer(response), on: reactor)
  }

  private func answer(_ response: HTTPServerResponse) -> ConnectionAction {
    endRequest()
    let response = permission.take()?.allow(response) ?? response
    recordAnswer(response.statusCode)
    // While the machine processes a request it closes nothing, but makes this answer the last.
    if isDraining || requestsLeft <= 0 { _ = machine.drainRequested() }
    return switch response.content {
    case .plain(let head, let body): machine.answered(head, body: body)
    case .prepared(let prepared): machine.answered(prepared)
    }
  }

  private func recordAnswer(_ status: Int) {
    let timed = self.timed.take()
    registry.counters.countResponse(status, of: timed?.route)
    if let timed { service.timers[timed.route].recordNanoseconds(Int64(clamping: Reactor.now &- timed.since)) }
  }

  /// Determines the client of a request, and counts the request for a client behind a proxy.
  /// - Returns: the client, and whether it may have another concurrent request.
  private func beginRequest(_ head: RequestHead) -> (client: IPAddress?, isWelcome: Bool) {
    guard isProxy else { return (peer, true) }
    let proxies = service.configuration.proxies
    let client = proxies.client(of: head, from: peer)
    guard let client, !proxies.trusts(client) else { return (client, true) }
    guard service.census.begin(for: client) else { return (client, false) }
    countedClient = client
    return (client, true)
  }

  /// The request is answered, or its connection closes.
  func endRequest() {
    if let client = countedClient.take() { service.census.end(for: client) }
  }
}
