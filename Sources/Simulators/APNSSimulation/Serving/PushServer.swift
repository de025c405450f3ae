internal import HTTP2
internal import Logging
internal import Reactors
internal import TLSStreams

/// Serves one environment on one reactor: hands requests to the service, and gives the answers or lets the faults happen.
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

  /// What a listener for this server needs.
  var configuration: HTTP2ServerConfiguration {
    var configuration = HTTP2ServerConfiguration()
    configuration.streamsMax = ConnectionConduct(policy: policy).streams
    configuration.refusesExcessStreams = policy.refusesExcess
    // What the real service announces.
    configuration.requestFieldsBytesMax = 8000
    return configuration
  }

  /// Says goodbye to every client, those in their handshake included.
  func closeAll(on reactor: isolated Reactor) {
    isClosed = true
    for connection in connections.values { connection.link.close(on: reactor) }
  }

  private func strike(_ fault: ServerFault, number: Int, on reactor: isolated Reactor) {
    guard let connection = connections.values.first(where: { $0.number == number }) else { return }
    service.note(fault, onConnection: number)
    strike(fault, connection, on: reactor)
  }
}

extension PushServer: HTTP2RequestHandler {
  func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool {
    directory.admits(service.conduct.churn)
  }

  func connectionOpened(_ link: HTTP2ServerConnection, on reactor: isolated Reactor) {
    guard !isClosed else { return link.close(on: reactor) }
    let handle = PushServerHandle(self, on: reactor)
    let number = directory.add(environment: environment, streamsMax: link.streamsMax) { fault, number in
      handle.perform { server, reactor in server.strike(fault, number: number, on: reactor) }
    }
    welcome(link, number: number, on: reactor)
  }

  /// A certificate has proved itself with the handshake, so its connection starts with all streams; one for the other
  /// environment is sent away at once.
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
    connection.idle?.noteActivity()
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

/// A push server as other threads hold it.
///
/// Unchecked because the server belongs to its reactor; safe because it is only handed out there.
struct PushServerHandle: @unchecked Sendable {
  private let server: PushServer
  private let reactor: Reactor

  init(_ server: PushServer, on reactor: isolated Reactor) {
    self.server = server
    self.reactor = reactor
  }

  /// Runs work on the server's reactor, later.
  func perform(_ work: @escaping @Sendable (PushServer, isolated Reactor) -> Void) {
    reactor.submit { reactor in work(server, reactor) }
  }
}

/// A listener and its server, as the simulator holds them from outside their reactor.
///
/// Unchecked because both belong to the reactor; safe because they are touched there only.
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

  /// Accepts nothing more and closes what is open.
  func end() async {
    try? await reactor.perform { reactor in
      listener.stop(on: reactor)
      server.closeAll(on: reactor)
    }
  }
}
