import HTTP1
import HTTPTypes
import Reactors
import TestReactors
import Testing

@testable import HTTPTransfers

@Suite("Transfers over HTTP/2", .timeLimit(.minutes(5)))
struct MultiplexingTests {
  private let authority: CertificateAuthority

  init() throws {
    authority = try CertificateAuthority(name: "multiplexing test authority")
  }

  private var configuration: HTTPTransferConfiguration {
    var configuration = HTTPTransferConfiguration()
    configuration.transfersMax = 200
    configuration.multiplexes = true
    configuration.connectionsPerHostMax = 4
    configuration.trust = .only(authority.certificate)
    return configuration
  }

  private func context(_ protocols: [String]) throws -> TLSContext {
    let identity = try authority.issue(for: ["127.0.0.1", "localhost"])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
  }

  private func run(
    _ conduct: MultiplexingServer.Conduct, holding holds: Int = 1,
    _ test: @Sendable (TransferRig, ReactorBound<MultiplexingServer>) async throws -> Void
  ) async throws {
    let (configuration, context) = (configuration, try context(["h2"]))
    try await TransferRig.withReactors { client, reactor in
      let server = try await reactor.perform {
        ReactorBound(try MultiplexingServer(conduct, holding: holds, tls: context, on: $0), on: $0)
      }
      let address = await server.perform { server, _ in server.address }
      let rig = try await TransferRig.make(configuration, "https://\(address)", nil, on: client)
      try await test(rig, server)
      await rig.close()
      try await until { await server.perform({ server, _ in server.openCount }) == 0 }
      await server.perform { $0.close(on: $1) }
    }
  }

  private static func post(_ rig: TransferRig, _ number: Int, deadline: Duration = .seconds(20)) -> HTTPTransferRequest
  {
    var request = HTTPTransferRequest(
      .post, url: rig.origin + "/push", body: Array("\(number)".utf8), deadline: deadline)
    request.isSentOnce = true
    return request
  }

  @Test("ninety transfers run at once over one connection, and each gets its own answer")
  func multiplexes() async throws {
    try await run(.answers, holding: 90) { rig, server in
      let tasks = (0..<90).map { number in rig.start(Self.post(rig, number)) }
      for (number, task) in tasks.enumerated() { #expect(await task.value.text == "\(number)") }
      #expect(await server.perform { server, _ in server.openedCount } == 1)
    }
  }

  @Test("no connection has more streams than its server allows; another one takes the rest")
  func streamsMax() async throws {
    try await run(.endsExcess, holding: 101) { rig, server in
      let tasks = (0..<101).map { number in rig.start(Self.post(rig, number)) }
      for (number, task) in tasks.enumerated() { #expect(await task.value.text == "\(number)") }
      let (peak, opened) = await server.perform { server, _ in (server.streamsPeak, server.openedCount) }
      #expect(peak == 100)
      #expect(opened == 2)
    }
  }

  @Test("a kept connection serves again")
  func keeps() async throws {
    try await run(.answers) { rig, server in
      for number in 0..<5 { #expect(await rig.send(Self.post(rig, number)).text == "\(number)") }
      #expect(await server.perform { server, _ in server.openedCount } == 1)
    }
  }

  @Test("a redirect is an answer and is not followed")
  func redirect() async throws {
    try await run(.redirects) { rig, server in
      let response = try await rig.send(Self.post(rig, 1)).get()
      #expect(response.status.code == 307)
      #expect(response.fields[.location] == "https://127.0.0.1:1/elsewhere")
      #expect(await server.perform { server, _ in server.requestCount } == 1)
    }
  }

  @Test(
    "a stream or a connection that ends without an answer is lost",
    arguments: [MultiplexingServer.Conduct.resets, .goesAway])
  func losses(_ conduct: MultiplexingServer.Conduct) async throws {
    try await run(conduct) { rig, _ in
      #expect(await rig.send(Self.post(rig, 1)).code == .connectionLost)
      #expect(await rig.send(Self.post(rig, 2)).code == .connectionLost)
    }
  }

  @Test("a transfer that ends at its deadline leaves the others on the connection")
  func deadline() async throws {
    try await run(.answers, holding: 2) { rig, server in
      #expect(await rig.send(Self.post(rig, 1, deadline: .seconds(2))).code == .timedOut)
      // The late one, which had the time to be sent, still counts, so the next request is answered.
      #expect(await rig.send(Self.post(rig, 2)).text == "2")
      #expect(await server.perform { server, _ in server.openedCount } == 1)
    }
  }

  @Test("a cancelled transfer ends at once")
  func cancel() async throws {
    try await run(.isSilent) { rig, server in
      let task = rig.start(Self.post(rig, 1))
      try await until { await server.perform({ server, _ in server.requestCount }) >= 1 }
      task.cancel()
      #expect(await task.value.code == .cancelled)
    }
  }

  @Test("a server without HTTP/2 gets as many connections as allowed, and the other transfers wait for them")
  func older() async throws {
    let turnstile = Turnstile()
    var routes = HTTPRoutes()
    routes.add(.post, "/push") { request, _ in
      await turnstile.pass()
      return HTTPServerResponse(status: .ok, body: request.body)
    }
    try await TransferRig.run(routes, configuration: configuration, tls: try context(["http/1.1"])) { rig in
      let tasks = (0..<20).map { number in rig.start(Self.post(rig, number)) }
      await turnstile.holds(4)
      turnstile.open()
      for (number, task) in tasks.enumerated() { #expect(await task.value.text == "\(number)") }
      #expect(turnstile.insideMax <= 4)
      #expect(await rig.service?.connectionCount ?? 9 <= 4)
    }
  }

  @Test("a request's own reach counts instead of the client's")
  func reach() async throws {
    try await run(.answers) { rig, server in
      var request = Self.post(rig, 1)
      request.reach = HTTPTransferReach(includesPrivateAddresses: false, includesPlainHTTP: false)
      for origin in [rig.origin, rig.origin.replacing("127.0.0.1", with: "localhost")] {
        request.url = origin + "/push"
        #expect(await rig.send(request).code == .forbidden)
      }
      #expect(await server.perform { server, _ in server.openedCount } == 0)
      request.reach = nil
      #expect(await rig.send(request).text == "1")
    }
  }
}
