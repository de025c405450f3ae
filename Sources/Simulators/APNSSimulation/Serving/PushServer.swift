internal import HTTP2
internal import Logging
internal import Reactors

/// Serves one environment on one reactor. It passes requests to the service, and sends the responses or carries out
/// faults.
final class PushServer {
  let environment: SimulatedEnvironment
  let service: SimulatedService
  let directory: ConnectionDirectory
  private let policy: StreamPolicy
  let logger: Logger
  private var connections: [ObjectIdentifier: ServedConnection] = [:]
  private var isClosed = false

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

  var configuration: HTTP2ServerConfiguration {
    var configuration = HTTP2ServerConfiguration()
    configuration.streamsMax = ConnectionConduct(policy: policy).streams
    configuration.refusesExcessStreams = policy.refusesExcess
    // The real service announces this.
    configuration.requestFieldsBytesMax = 8000
    return configuration
  }

  /// Closes every connection in an orderly way, also those in their handshake.
  func closeAll(on reactor: isolated Reactor) {
    isClosed = true
    for connection in connections.values { connection.link.close(on: reactor) }
  }

  private func strike(_ fault: ServerFault, number: Int, on reactor: isolated Reactor) {
    guard let connection = connections.values.first(where: { $0.number == number }) else { return }
    service.record(fault, onConnection: number)
    strike(fault, connection, on: reactor)
  }
}

extension PushServer: HTTP2RequestHandler {
  func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool {
    directory.admits(service.conduct.churn)
  }

  func connectionOpened(_ link: HTTP2ServerConnection, on reactor: isolated Reactor) {
    guard !isClosed else { return link.close(on: reactor) }
    let bound = ReactorBound(self, on: reactor)
    let number = directory.add(environment: environment, streamsMax: link.streamsMax) { fault, number in
      bound.submit { $0.strike(fault, number: number, on: $1) }
    }
    welcome(link, number: number, on: reactor)
  }

  /// A connection with a certificate starts with all streams, because the handshake has proved it. A certificate for
  /// the other environment ends the connection at once.
  private func welcome(_ link: HTTP2ServerConnection, number: Int, on reactor: isolated Reactor) {
    let known = link.clientCertificate.map { certificate in
      service.withRegistry { $0.certificates[RegisteredCertificate.fingerprint(of: certificate)] }
    }
    var policy = policy
    if known != nil { policy.startsWithOne = false }
    let connection = ServedConnection(link, number: number, certificate: .init(known), policy: policy)
    connections[ObjectIdentifier(link)] = connection
    if connection.conduct.streams != link.streamsMax { announce(connection.conduct.streams, connection, on: reactor) }
    if let known = known ?? nil, !known.environments.contains(environment) {
      return sayGoodbye("BadCertificateEnvironment", connection, on: reactor)
    }
    if let limit = service.conduct.idleMilliseconds {
      connection.idle = IdleWatch(.milliseconds(limit), connection, of: self, on: reactor)
    }
  }

  func connectionClosed(_ link: HTTP2ServerConnection, on reactor: isolated Reactor) {
    guard let connection = connections.removeValue(forKey: ObjectIdentifier(link)) else { return }
    connection.idle?.stop(on: reactor)
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
    connection.idle?.restart()
    let inspected = InspectedRequest(request, certificate: connection.certificate)
    let reception = service.receive(inspected, from: origin, binding: &connection.binding)
    directory.update(connection.number) { summary in
      summary.requests += 1
      summary.refusedStreams = link.refusedStreams
    }
    act(on: reception, request.streamID, connection, on: reactor)
  }

  private static func wallTime(ofMonotonic moment: UInt64) -> WallInstant {
    WallInstant(microseconds: SimulationClock.wall.microseconds - Int64((Reactor.now - moment) / 1000))
  }
}

/// A listener and its server, held from outside their reactor.
///
/// Unchecked because both belong to the reactor. Safe because they are only used there.
struct BoundListener: @unchecked Sendable {
  let environment: SimulatedEnvironment
  let address: SocketAddress

  private let listener: HTTP2Listener
  private let server: PushServer
  private let reactor: Reactor

  init(
    _ server: PushServer, on address: SocketAddress, context: TLSContext, reactor: isolated Reactor
  ) throws(SystemError) {
    listener = try HTTP2Listener(
      on: address, context: context, configuration: server.configuration, handler: server, reactor: reactor)
    self.server = server
    environment = server.environment
    self.reactor = reactor
    self.address = listener.address
  }

  /// Stops the listener and closes its connections.
  func end() async {
    try? await reactor.perform { reactor in
      listener.stop(on: reactor)
      server.closeAll(on: reactor)
    }
  }
}

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
