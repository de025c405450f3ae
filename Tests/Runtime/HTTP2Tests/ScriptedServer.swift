import HTTP2
import Reactors
import TestReactors
import Testing

struct TestFailure: Error {}

/// A server that keeps every request, and answers at once or when the test says so.
final class ScriptedServer: HTTP2RequestHandler {
  var answersAtOnce: Bool
  private(set) var connections: [HTTP2ServerConnection] = []
  private(set) var requests: [HTTP2ServerRequest] = []
  private(set) var closedConnections = 0
  private(set) var mostOpenStreams = 0
  private let changed = Signal()

  init(answersAtOnce: Bool) {
    self.answersAtOnce = answersAtOnce
  }

  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    connections.append(connection)
    changed.signal(on: reactor)
  }

  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    requests.append(request)
    mostOpenStreams = max(mostOpenStreams, connection.openStreams)
    if answersAtOnce { answer(request, on: reactor) }
    changed.signal(on: reactor)
  }

  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    closedConnections += 1
    changed.signal(on: reactor)
  }

  /// The first connection; there is one as soon as a request has arrived.
  var connection: HTTP2ServerConnection { connections[0] }

  /// 200, the request's path in a field and its body.
  func answer(_ request: HTTP2ServerRequest, on reactor: isolated Reactor) {
    connection.respond(
      to: request.streamID, status: 200, fields: ["x-path": request.path], body: request.body, on: reactor)
  }

  /// Waits until so many requests have arrived since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    try await until(on: reactor) { requests.count >= count }
  }

  func closed(on reactor: isolated Reactor) async throws {
    try await until(on: reactor) { closedConnections > 0 }
  }

  private func until(on reactor: isolated Reactor, _ isDone: () -> Bool) async throws {
    while !isDone() {
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure() }
    }
  }
}

/// What a connection's owner hears.
final class StateLog: HTTP2ConnectionObserver {
  private(set) var states: [HTTP2ConnectionState] = []
  private(set) var capacities: [Capacity] = []
  private let changed = Signal()

  /// What the connection was able to take when its capacity changed.
  enum Capacity: Equatable {
    case streams(Int)
    case suspect
  }

  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    states.append(state)
    changed.signal(on: reactor)
  }

  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {
    capacities.append(connection.isSuspect ? .suspect : .streams(connection.streamsMax))
    changed.signal(on: reactor)
  }

  /// Waits until the latest capacity heard of is this one.
  func heard(_ capacity: Capacity, on reactor: isolated Reactor) async throws {
    while capacities.last != capacity {
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure() }
    }
  }

  /// Waits until the connection has closed, and tells why.
  func closed(on reactor: isolated Reactor) async throws -> HTTP2Error {
    while true {
      if case .closed(let error) = states.last { return error }
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure() }
    }
  }
}

/// Requests under way, and what became of them, by number.
final class Outcomes {
  private(set) var all: [Int: HTTP2Outcome] = [:]
  private var sent = 0
  private let changed = Signal()

  /// Starts so many requests at once, to `/0`, `/1` and so on.
  func send(
    _ count: Int, over connection: HTTP2Connection, body: [UInt8] = [], within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) {
    for number in sent..<(sent + count) {
      let request = HTTP2Request(path: "/\(number)", body: body)
      reactor.start { [self] in
        all[number] = await connection.send(request, within: limit, on: reactor)
        changed.signal(on: reactor)
      }
    }
    sent += count
  }

  /// Waits until so many requests have their outcome; nil means all that were started.
  func arrived(_ count: Int? = nil, on reactor: isolated Reactor) async throws {
    while all.count < count ?? sent {
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure() }
    }
  }

  var responses: [Int: HTTP2Response] {
    all.compactMapValues { if case .response(let response) = $0 { response } else { nil } }
  }

  var notProcessed: [Int: HTTP2Unprocessed] {
    all.compactMapValues { if case .notProcessed(let reason) = $0 { reason } else { nil } }
  }

  var unknown: [Int: HTTP2Uncertainty] {
    all.compactMapValues { if case .unknown(let reason) = $0 { reason } else { nil } }
  }
}

/// A server, a client connected to it, and what the client's owner hears.
struct Exchange {
  let server: ScriptedServer
  let client: HTTP2Connection
  let log: StateLog
  let outcomes = Outcomes()

  /// - Parameter answers: whether the server answers each request as it comes.
  static func start(
    answers: Bool, client: HTTP2ClientConfiguration = HTTP2ClientConfiguration(),
    server configuration: HTTP2ServerConfiguration = HTTP2ServerConfiguration(), on reactor: isolated Reactor
  ) async throws -> Exchange {
    let authority = try CertificateAuthority(name: "Test authority")
    let identity = try authority.issue(for: ["127.0.0.1"])
    let handler = ScriptedServer(answersAtOnce: answers)
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure() }
    let listener = try HTTP2Listener(
      on: address,
      context: try TLSContext(certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"]),
      configuration: configuration, handler: handler, reactor: reactor)
    let log = StateLog()
    let connection = try await HTTP2Connection.connect(
      host: "127.0.0.1", port: listener.address.port,
      context: try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: ["h2"]),
      configuration: client, observer: log, within: .seconds(30), on: reactor)
    listener.stop(on: reactor)
    return Exchange(server: handler, client: connection, log: log)
  }

  /// A test with an exchange.
  static func run(
    answers: Bool, client: HTTP2ClientConfiguration = HTTP2ClientConfiguration(),
    server configuration: HTTP2ServerConfiguration = HTTP2ServerConfiguration(),
    _ test: @escaping @Sendable (Exchange, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      try await test(try await start(answers: answers, client: client, server: configuration, on: reactor), reactor)
    }
  }

  /// Sends and waits.
  func ask(
    _ request: HTTP2Request, within limit: Duration = .seconds(10), on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await client.send(request, within: limit, on: reactor)
  }
}

extension HTTP2Outcome {
  var response: HTTP2Response? {
    if case .response(let response) = self { response } else { nil }
  }
}

func client(initialStreamsMax: Int) -> HTTP2ClientConfiguration {
  var configuration = HTTP2ClientConfiguration()
  configuration.initialStreamsMax = initialStreamsMax
  return configuration
}

func server(streamsMax: Int) -> HTTP2ServerConfiguration {
  var configuration = HTTP2ServerConfiguration()
  configuration.streamsMax = streamsMax
  return configuration
}
