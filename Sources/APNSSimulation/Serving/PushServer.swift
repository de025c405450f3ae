internal import HTTP2
internal import Logging
internal import Reactors

/// Serves one environment on one reactor: hands requests to the service, and gives the answers or lets the faults happen.
final class PushServer {
  private let environment: SimulatedEnvironment
  private let service: SimulatedService
  private let directory: ConnectionDirectory
  private let policy: StreamPolicy
  private let logger: Logger
  private var connections: [ObjectIdentifier: ServedConnection] = [:]

  init(
    _ environment: SimulatedEnvironment, service: SimulatedService, directory: ConnectionDirectory,
    policy: StreamPolicy,
    logger: Logger
  ) {
    self.environment = environment
    self.service = service
    self.directory = directory
    self.policy = policy
    self.logger = logger
  }

  /// What a listener for this server needs.
  var configuration: HTTP2ServerConfiguration {
    var configuration = HTTP2ServerConfiguration()
    configuration.streamsMax = ConnectionConduct(policy: policy).streams
    // What the real service announces.
    configuration.requestFieldsBytesMax = 8000
    return configuration
  }

  /// Says goodbye to every client.
  func closeAll(on reactor: isolated Reactor) {
    for connection in connections.values { connection.link.close(on: reactor) }
  }

  private func strike(_ fault: ServerFault, number: Int, on reactor: isolated Reactor) {
    guard let connection = connections.values.first(where: { $0.number == number }) else { return }
    strike(fault, connection, on: reactor)
  }
}

extension PushServer: HTTP2RequestHandler {
  func connectionOpened(_ link: HTTP2ServerConnection, on reactor: isolated Reactor) {
    let handle = PushServerHandle(self, on: reactor)
    let number = directory.add(environment: environment, streamsMax: link.streamsMax) { fault, number in
      handle.perform { server, reactor in server.strike(fault, number: number, on: reactor) }
    }
    connections[ObjectIdentifier(link)] = ServedConnection(link, number: number, policy: policy)
  }

  func connectionClosed(_ link: HTTP2ServerConnection, on reactor: isolated Reactor) {
    guard let connection = connections.removeValue(forKey: ObjectIdentifier(link)) else { return }
    directory.remove(connection.number)
  }

  func requestReceived(
    _ request: HTTP2ServerRequest, from link: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    guard let connection = connections[ObjectIdentifier(link)], request.streamID <= connection.processedMax else {
      return
    }
    connection.lastStream = max(connection.lastStream, request.streamID)
    let origin = RequestOrigin(
      environment: environment, connection: connection.number, stream: request.streamID,
      arrival: Self.wallTime(ofMonotonic: request.arrival))
    let reception = service.receive(InspectedRequest(request), from: origin, binding: &connection.binding)
    directory.update(connection.number) { $0.requests += 1 }
    act(on: reception, request.streamID, connection, on: reactor)
  }

  private static func wallTime(ofMonotonic moment: UInt64) -> WallInstant {
    WallInstant(microseconds: SimulationClock.wall.microseconds - Int64((Reactor.now - moment) / 1000))
  }
}

// What follows a judgement.
extension PushServer {
  private func act(
    on reception: Reception, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) {
    if let fault = reception.fault, !letHappen(fault, stream, connection, on: reactor) { return }
    guard let verdict = reception.verdict, let number = reception.number else { return }
    guard verdict.delayMilliseconds > 0 else { return answer(verdict, number, stream, connection, on: reactor) }
    reactor.start { [self] in
      await reactor.sleep(for: .milliseconds(verdict.delayMilliseconds))
      answer(verdict, number, stream, connection, on: reactor)
    }
  }

  private func answer(
    _ verdict: PushVerdict, _ number: Int, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) {
    var fields = HTTP2Fields()
    for field in verdict.fields { fields.append(field.name, field.value) }
    let isSent = connection.link.respond(
      to: stream, status: verdict.status, fields: fields, body: verdict.body, on: reactor)
    guard isSent else { return }
    service.markAnswered(number)
    logger.debug(
      "push answered",
      metadata: ["push": "\(number)", "status": "\(verdict.status)", "reason": "\(verdict.reason ?? "")"])
    for action in connection.conduct.answered(status: verdict.status, reason: verdict.reason) {
      perform(action, connection, on: reactor)
    }
  }

  private func perform(
    _ action: ConnectionConduct.Action, _ connection: ServedConnection, on reactor: isolated Reactor
  ) {
    switch action {
    case .announceStreams(let count): announce(count, connection, on: reactor)
    case .goAway(let reason):
      let debug = AnswerBody.json(reason: reason, timestamp: nil)
      sayGoodbye(connection.lastStream, .noError, debug, connection, on: reactor)
    }
  }

  private func announce(_ streams: Int, _ connection: ServedConnection, on reactor: isolated Reactor) {
    connection.link.announce([.streamsMax(streams)], on: reactor)
    directory.update(connection.number) { $0.streamsMax = streams }
  }
}

// Faults.
extension PushServer {
  /// What a fault does to the request that met it.
  /// - Returns: whether the request still gets its answer.
  private func letHappen(
    _ fault: ServerFault, _ stream: Int32, _ connection: ServedConnection, on reactor: isolated Reactor
  ) -> Bool {
    switch fault {
    case .blackHole: return false
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
    case .announceStreams(let count):
      announce(count, connection, on: reactor)
      return true
    }
  }

  /// What a fault does to a connection without a request.
  private func strike(_ fault: ServerFault, _ connection: ServedConnection, on reactor: isolated Reactor) {
    switch fault {
    case .goAway(let lastStream, let code, let debug):
      let last = lastStream.number(atStream: connection.lastStream)
      sayGoodbye(last, HTTP2ErrorCode(rawValue: code), Array(debug.utf8), connection, on: reactor)
    case .dropBeforeProcessing, .dropAfterProcessing: connection.link.closeAbruptly(on: reactor)
    case .blackHole: connection.link.fallSilent(on: reactor)
    case .announceStreams(let count): announce(count, connection, on: reactor)
    case .refuseStream, .resetStream: break
    }
  }

  private func sayGoodbye(
    _ lastStream: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8], _ connection: ServedConnection,
    on reactor: isolated Reactor
  ) {
    connection.processedMax = min(connection.processedMax, lastStream)
    connection.link.goAway(lastStreamID: connection.processedMax, code, debugData: debug, on: reactor)
  }
}
