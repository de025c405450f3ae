import HTTP1
import HTTP2
import HTTPTypes
import Logging
import Reactors
import TestReactors
import Testing

@testable import HTTPTransfers

/// A client on one reactor and a server on another.
struct TransferRig {
  let client: ReactorBound<HTTPTransferClient>
  /// Scheme, host and port.
  let origin: String
  let service: HTTPService?
  var reactor: Reactor { client.reactor }

  /// Runs a test against a service of ours, and looks afterwards whether the client has left anything behind.
  static func run(
    _ routes: HTTPRoutes, configuration: HTTPTransferConfiguration = HTTPTransferConfiguration(),
    tls: TLSContext? = nil, _ test: @Sendable (TransferRig) async throws -> Void
  ) async throws {
    try await withReactors { client, server in
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
      let service = try await HTTPService.start(
        routes, on: address, reactors: [server], tls: tls,
        logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
      let scheme = tls == nil ? "http" : "https"
      let rig = try await make(configuration, "\(scheme)://\(service.address)", service, on: client)
      try await test(rig)
      await rig.close()
      try await until { await service.connectionCount == 0 }
      _ = await service.drain(within: .seconds(5))
    }
  }

  /// Runs a test against a server that answers with these bytes.
  static func run(
    _ script: ByteServer.Script, configuration: HTTPTransferConfiguration = HTTPTransferConfiguration(),
    _ test: @Sendable (TransferRig) async throws -> Void
  ) async throws {
    try await withReactors { client, reactor in
      let server = try await reactor.perform { ReactorBound(try ByteServer(script, on: $0), on: $0) }
      let address = await server.perform { server, _ in server.address }
      let rig = try await make(configuration, "http://\(address)", nil, on: client)
      try await test(rig)
      await rig.close()
      try await until { await server.perform({ server, _ in server.peerCount }) == 0 }
      await server.perform { $0.close(on: $1) }
    }
  }

  static func make(
    _ configuration: HTTPTransferConfiguration, _ origin: String, _ service: HTTPService?, on reactor: Reactor
  ) async throws -> TransferRig {
    let client = try await reactor.perform { ReactorBound(HTTPTransferClient(configuration, on: $0), on: $0) }
    return TransferRig(client: client, origin: origin, service: service)
  }

  static func withReactors(_ body: (Reactor, Reactor) async throws -> Void) async throws {
    let group = try ReactorGroup(count: 2)
    let result = await Result(awaiting: { () async throws in try await body(group.reactors[0], group.reactors[1]) })
    await group.stop()
    try result.get()
  }

  func close() async {
    await client.perform { $0.close(on: $1) }
    #expect(await reactor.pendingTimers == 0)
    #expect(await client.perform { client, _ in client.pendingCount } == 0)
  }

  /// Sends a request as a task that can be cancelled.
  func start(_ request: HTTPTransferRequest) -> Task<Result<HTTPTransferResponse, HTTPTransferError>, Never> {
    Task(executorPreference: reactor.executor) { await Self.attempt(request, client, on: reactor) }
  }

  private static func attempt(
    _ request: HTTPTransferRequest, _ client: ReactorBound<HTTPTransferClient>, on reactor: isolated Reactor
  ) async -> Result<HTTPTransferResponse, HTTPTransferError> {
    await Result(awaiting: { () async throws(HTTPTransferError) in
      try await client.value(on: reactor).send(request, on: reactor)
    })
  }

  func send(_ request: HTTPTransferRequest) async -> Result<HTTPTransferResponse, HTTPTransferError> {
    await start(request).value
  }

  func get(
    _ path: String, deadline: Duration = .seconds(20), bodyBytesMax: Int = 1 << 20
  ) async -> Result<HTTPTransferResponse, HTTPTransferError> {
    await send(HTTPTransferRequest(url: origin + path, deadline: deadline, bodyBytesMax: bodyBytesMax))
  }
}

extension Result where Success == HTTPTransferResponse, Failure == HTTPTransferError {
  /// Why there is no answer.
  var code: HTTPTransferError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }

  /// The content of the answer.
  var text: String? { (try? get()).map { String(decoding: $0.body, as: UTF8.self) } }

  var status: Int? { (try? get())?.status.code }
}

/// A server that answers each request's head with the same bytes, on one reactor.
final class ByteServer: ReadinessHandler {
  struct Script: Sendable {
    let answer: String
    /// Whether the connection ends behind the answer.
    var closes = true
  }

  private let socket: ListeningSocket
  private let script: Script
  private var registration: Registration?
  private var peers: [ObjectIdentifier: Peer] = [:]

  var address: SocketAddress { socket.address }

  /// Connections that the clients have not closed.
  var peerCount: Int { peers.count }

  init(_ script: Script, on reactor: isolated Reactor) throws {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure("no address") }
    socket = try ListeningSocket(on: address)
    self.script = script
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
  }

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard case .accepted(let socket, _) = self.socket.accept() else { return }
    let peer = Peer(socket, script) { [unowned self] in peers[ObjectIdentifier($0)] = nil }
    peers[ObjectIdentifier(peer)] = peer
    peer.start(on: reactor)
  }

  private final class Peer: ReadinessHandler {
    private let socket: Socket
    private let script: Script
    private let ended: (Peer) -> Void
    private var registration: Registration?
    private var received: [UInt8] = []

    init(_ socket: Socket, _ script: Script, ended: @escaping (Peer) -> Void) {
      self.socket = socket
      self.script = script
      self.ended = ended
    }

    func start(on reactor: isolated Reactor) {
      registration = try? reactor.register(socket.descriptor, for: .read, handler: self)
    }

    func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): answer(buffer[..<count])
      case .wouldBlock: break
      case .endOfStream, .failed:
        if let registration { reactor.deregister(registration) }
        ended(self)
      }
    }

    private func answer(_ bytes: ArraySlice<UInt8>) {
      received += bytes
      guard received.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
      received = []
      _ = Array(script.answer.utf8).withUnsafeBytes { socket.write($0) }
      if script.closes { socket.shutDownWriting() }
    }
  }
}

/// An HTTP/2 server that holds its answers until a number of requests wait, then gives them all. It allows a hundred streams a
/// connection. On one reactor.
final class MultiplexingServer {
  /// What it does with the requests that it holds.
  enum Conduct: Sendable {
    /// 200, with the request's body.
    case answers
    /// The same, but GOAWAY and the end for a connection that opens more streams than it may, as Google does.
    case endsExcess
    /// A redirect.
    case redirects
    /// RST_STREAM, as of a service that failed.
    case resets
    /// GOAWAY that names no stream, and the end of the connection.
    case goesAway
    /// Never.
    case isSilent
  }

  private let conduct: Conduct
  private let holds: Int
  private var listener: HTTP2Listener?
  private var held: [(HTTP2ServerConnection, HTTP2ServerRequest)] = []
  private var connections: [ObjectIdentifier: HTTP2ServerConnection] = [:]

  /// Connections since the start.
  private(set) var openedCount = 0
  /// Requests since the start.
  private(set) var requestCount = 0
  /// The most streams that were open at once on a connection.
  private(set) var streamsPeak = 0
  /// Open connections.
  var openCount: Int { connections.count }
  var address: SocketAddress { listener!.address }

  init(_ conduct: Conduct, holding holds: Int, tls: TLSContext, on reactor: isolated Reactor) throws {
    self.conduct = conduct
    self.holds = holds
    var configuration = HTTP2ServerConfiguration()
    configuration.streamsMax = 100
    configuration.refusesExcessStreams = false
    listener = try HTTP2Listener(
      on: SocketAddress(numericHost: "127.0.0.1", port: 0)!, context: tls, configuration: configuration, handler: self,
      reactor: reactor)
  }

  func close(on reactor: isolated Reactor) {
    listener?.stop(on: reactor)
    for connection in connections.values { connection.close(on: reactor) }
    listener = nil
  }
}

extension MultiplexingServer: HTTP2RequestHandler {
  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    openedCount += 1
    connections[ObjectIdentifier(connection)] = connection
  }

  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    connections[ObjectIdentifier(connection)] = nil
  }

  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    requestCount += 1
    streamsPeak = max(streamsPeak, connection.openStreams)
    if conduct == .endsExcess, connection.openStreams > connection.streamsMax { end(connection, on: reactor) }
    held.append((connection, request))
    guard held.count >= holds else { return }
    let batch = held
    held = []
    for (connection, request) in batch { act(request, connection, on: reactor) }
  }

  private func act(_ request: HTTP2ServerRequest, _ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    switch conduct {
    case .answers, .endsExcess: connection.respond(to: request.streamID, status: 200, body: request.body, on: reactor)
    case .redirects:
      connection.respond(
        to: request.streamID, status: 307, fields: ["location": "https://127.0.0.1:1/elsewhere"], on: reactor)
    case .resets: connection.reset(request.streamID, .internalError, on: reactor)
    case .goesAway: end(connection, on: reactor)
    case .isSilent: break
    }
  }

  private func end(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    connection.goAway(lastStreamID: 0, on: reactor)
    connection.flushNow(on: reactor)
    connection.closeAbruptly(on: reactor)
  }
}
