import HTTP2
import Reactors

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
