internal import HTTP2
internal import Logging
internal import Reactors

extension PushServer {
  func act(
    on reception: Reception, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) {
    if let fault = reception.fault, !letHappen(fault, stream, connection, on: reactor) { return }
    guard let verdict = reception.verdict else { return }
    let number = reception.number
    guard reception.delayMilliseconds > 0 else { return answer(verdict, number, stream, connection, on: reactor) }
    reactor.start { [self] in
      await reactor.sleep(for: .milliseconds(reception.delayMilliseconds))
      answer(verdict, number, stream, connection, on: reactor)
    }
  }

  private func answer(
    _ verdict: PushVerdict, _ number: Int?, _ stream: Int32, _ connection: ServedConnection,
    on reactor: isolated Reactor
  ) {
    var fields = HTTP2Fields()
    for field in verdict.fields { fields.append(field.name, field.value) }
    let isSent = connection.link.respond(
      to: stream, status: verdict.status, fields: fields, body: verdict.body, on: reactor)
    guard isSent else { return }
    connection.idle?.restart()
    if let number { service.markAnswered(number) }
    logger.debug(
      "request answered",
      metadata: ["push": "\(number ?? 0)", "status": "\(verdict.status)", "reason": "\(verdict.reason ?? "")"])
    for action in connection.conduct.answered(status: verdict.status, reason: verdict.reason) {
      perform(action, connection, on: reactor)
    }
  }

  private func perform(
    _ action: ConnectionConduct.Action, _ connection: ServedConnection, on reactor: isolated Reactor
  ) {
    switch action {
    case .announceStreams(let count): announce(count, connection, on: reactor)
    case .goAway(let reason): sayGoodbye(reason, connection, on: reactor)
    }
  }

  /// Ends the connection in an orderly way, with APNs' reason. Received requests are still answered.
  func sayGoodbye(_ reason: String, _ connection: ServedConnection, on reactor: isolated Reactor) {
    let debug = AnswerBody.json(reason: reason, timestamp: nil)
    sayGoodbye(connection.lastStream, .noError, debug, connection, on: reactor)
  }

  func announce(_ streams: Int, _ connection: ServedConnection, on reactor: isolated Reactor) {
    connection.link.announce([.streamsMax(streams)], on: reactor)
    directory.update(connection.number) { $0.streamsMax = streams }
  }
}

/// The effects of faults on requests and connections.
extension PushServer {
  /// Carries out the fault of a request.
  /// - Returns: whether the request still gets its response.
  func letHappen(
    _ fault: ServerFault, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) -> Bool {
    switch fault {
    case .blackHole: return false
    case .silence:
      connection.link.fallSilent(on: reactor)
      return false
    case .refuseStream:
      connection.link.reset(stream, .refusedStream, on: reactor)
      return false
    case .resetStream(let code):
      connection.link.reset(stream, HTTP2ErrorCode(rawValue: code), on: reactor)
      return false
    case .goAway(let lastStream, let code, let debug):
      let last = lastStream.number(atStream: stream)
      sayGoodbye(last, HTTP2ErrorCode(rawValue: code), Array(debug.utf8), connection, on: reactor)
      return stream <= last
    case .dropBeforeProcessing, .dropAfterProcessing:
      connection.link.closeAbruptly(on: reactor)
      return false
    case .announceStreams, .ignorePings:
      strike(fault, connection, on: reactor)
      return true
    case .answer, .delay: return true
    }
  }

  func strike(_ fault: ServerFault, _ connection: ServedConnection, on reactor: isolated Reactor) {
    switch fault {
    case .goAway(let lastStream, let code, let debug):
      let last = lastStream.number(atStream: connection.lastStream)
      sayGoodbye(last, HTTP2ErrorCode(rawValue: code), Array(debug.utf8), connection, on: reactor)
    case .dropBeforeProcessing, .dropAfterProcessing: connection.link.closeAbruptly(on: reactor)
    case .blackHole, .silence: connection.link.fallSilent(on: reactor)
    case .ignorePings: connection.link.acknowledgesPings = false
    case .announceStreams(let count):
      connection.conduct.limit(to: count)
      announce(count, connection, on: reactor)
    case .refuseStream, .resetStream, .answer, .delay: break
    }
  }

  func sayGoodbye(
    _ lastStream: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8], _ connection: ServedConnection,
    on reactor: isolated Reactor
  ) {
    connection.processedMax = min(connection.processedMax, lastStream)
    connection.link.goAway(lastStreamID: connection.processedMax, code, debugData: debug, on: reactor)
  }
}
