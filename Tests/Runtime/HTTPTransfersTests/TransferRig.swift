import HTTP1
import HTTPTypes
import Logging
import Reactors
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
      while await service.connectionCount > 0 { await Task.yield() }
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
      while await server.perform({ server, _ in server.peerCount }) > 0 { await Task.yield() }
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
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(group.reactors[0], group.reactors[1]))
    } catch {
      result = .failure(error)
    }
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
    do throws(HTTPTransferError) {
      return .success(try await client.value(on: reactor).send(request, on: reactor))
    } catch {
      return .failure(error)
    }
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
