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
