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

final class ServedConnection {
  let link: HTTP2ServerConnection
  /// From 1, over all listeners.
  let number: Int
  let certificate: InspectedRequest.Certificate
  var idle: IdleWatch?
  var binding = ProviderBinding()
  var conduct: ConnectionConduct
  /// The highest stream whose request was received.
  var lastStream: Int32 = 0
  /// The last stream of the latest GOAWAY. Later requests may have been read together with the one that caused it.
  var processedMax = Int32.max

  init(
    _ link: HTTP2ServerConnection, number: Int, certificate: InspectedRequest.Certificate, policy: StreamPolicy
  ) {
    self.link = link
    self.number = number
    self.certificate = certificate
    conduct = ConnectionConduct(policy: policy)
  }
}

extension InspectedRequest.Certificate {
  /// The outer nil means no certificate, the inner nil an unregistered one.
  init(_ known: RegisteredCertificate??) {
    switch known {
    case nil: self = .none
    case .some(nil): self = .unknown
    case .some(let certificate?): self = .topics(certificate.topics)
    }
  }
}

/// The effects of responses on their connection.
package struct ConnectionConduct: Sendable {
  package enum Action: Equatable, Sendable {
    /// Announce this value of SETTINGS_MAX_CONCURRENT_STREAMS.
    case announceStreams(Int)
    /// Send GOAWAY with this reason, and close when the open streams are answered.
    case goAway(reason: String)
  }

  /// The streams that the peer may have open.
  package private(set) var streams: Int

  private var policy: StreamPolicy
  private var badTokens = 0
  private var isEnding = false

  package init(policy: StreamPolicy) {
    self.policy = policy
    streams = policy.startsWithOne ? 1 : policy.streamsMax
  }

  /// Replaces the policy's limit.
  mutating func limit(to streams: Int) {
    policy.streamsMax = streams
    self.streams = streams
  }

  /// Applies a sent response.
  package mutating func answered(status: Int, reason: String?) -> [Action] {
    var actions = setStreams(streams(after: status))
    if (200..<300).contains(status) { badTokens = 0 }
    guard reason == "BadDeviceToken" else { return actions }
    badTokens += 1
    if let limit = policy.badTokensMax, badTokens >= limit, !isEnding {
      isEnding = true
      actions.append(.goAway(reason: "BadDeviceToken"))
    }
    return actions
  }

  /// 410 changes nothing, because a dead token is not the sender's mistake.
  private func streams(after status: Int) -> Int {
    switch status {
    case 200..<300: policy.streamsMax
    case 410: streams
    default: policy.dropsAfterRefusal ? 1 : streams
    }
  }

  private mutating func setStreams(_ wanted: Int) -> [Action] {
    guard wanted != streams else { return [] }
    streams = wanted
    return [.announceStreams(wanted)]
  }
}

/// Ends a connection without requests. It has one timer, which is rescheduled after a request.
final class IdleWatch: TimerHandler {
  private let limit: Duration
  /// Both unowned: the server owns its connections, a connection owns its watch, and a closed one stops it.
  private unowned let connection: ServedConnection
  private unowned let server: PushServer
  private var quietSince = Reactor.now
  private var timer: TimerToken?

  init(_ limit: Duration, _ connection: ServedConnection, of server: PushServer, on reactor: isolated Reactor) {
    self.limit = limit
    self.connection = connection
    self.server = server
    timer = reactor.schedule(after: limit, self)
  }

  func restart() {
    quietSince = Reactor.now
  }

  func stop(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  func timerFired(_ token: TimerToken, on reactor: isolated Reactor) {
    timer = nil
    let left = limit - .nanoseconds(Int64(Reactor.now - quietSince))
    if left > .zero {
      timer = reactor.schedule(after: left, self)
    } else if connection.link.openStreams > 0 {
      // A connection with an open request is not idle.
      timer = reactor.schedule(after: limit, self)
    } else {
      server.sayGoodbye("IdleTimeout", connection, on: reactor)
    }
  }
}
