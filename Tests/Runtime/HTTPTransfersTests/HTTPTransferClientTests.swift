import Foundation
import HTTP1
import HTTPTypes
import Reactors
import Synchronization
import TestReactors
import Testing

@testable import HTTPTransfers

@Suite("Transfers", .timeLimit(.minutes(5)))
struct HTTPTransferClientTests {
  private static func routes(_ turnstile: Turnstile = Turnstile()) -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, "/hello") { request, _ in
      let agent = request.head.fields[.userAgent] ?? "nobody"
      return HTTPServerResponse(status: .ok, fields: [.eTag: "\"1\""], body: Array("hello \(agent)".utf8))
    }
    routes.add(.get, "/away") { _, _ in HTTPServerResponse(status: .found, fields: [.location: "/hello"]) }
    routes.add(.get, "/bytes/{count}") { request, _ in
      HTTPServerResponse(status: .ok, body: [UInt8](repeating: 120, count: Int(request.parameter("count")) ?? 0))
    }
    routes.add(.put, "/echo", bodyBytesMax: 4 << 20) { request, _ in
      let type = request.head.fields[.contentType] ?? "none"
      return HTTPServerResponse(status: .ok, fields: [.contentType: type], body: request.body)
    }
    routes.add(.get, "/held") { _, _ in
      await turnstile.pass()
      return HTTPServerResponse(status: .noContent)
    }
    return routes
  }

  @Test("an answer comes with its status, fields and content, and the client names itself")
  func answer() async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let response = try await rig.get("/hello").get()
      #expect(response.status == .ok)
      #expect(response.fields[.eTag] == "\"1\"")
      #expect(String(decoding: response.body, as: UTF8.self) == "hello tacet")
    }
  }

  @Test("any status is an answer, and a redirect is not followed", arguments: [("/nothing", 404), ("/away", 302)])
  func statuses(_ path: String, _ status: Int) async throws {
    try await TransferRig.run(Self.routes()) { rig in
      #expect(await rig.get(path).status == status)
    }
  }

  @Test(
    "a program that this process starts gets no connection, which would then stay open as long as that runs",
    arguments: [true, false])
  func inheritance(isReachLimited: Bool) async throws {
    let turnstile = Turnstile()
    var configuration = HTTPTransferConfiguration()
    if isReachLimited { configuration.reach.includesPlainHTTP = false }
    try await TransferRig.run(Self.routes(turnstile), configuration: configuration) { rig in
      let task = rig.start(HTTPTransferRequest(url: rig.origin + "/held"))
      await turnstile.holds()
      let sockets = Self.sockets(connectedTo: try #require(rig.service).address.port)
      #expect(sockets.map { fcntl($0, F_GETFD) } == [FD_CLOEXEC])
      turnstile.open()
      #expect(await task.value.status == 204)
    }
  }

  private static func sockets(connectedTo port: UInt16) -> [Int32] {
    (0..<Int32(4096)).filter { descriptor in
      var peer = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let code = withUnsafeMutableBytes(of: &peer) {
        getpeername(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
      return code == 0 && peer.sin_family == AF_INET && peer.sin_port == port.bigEndian
    }
  }

  @Test("HEAD has no content")
  func head() async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let result = await rig.send(HTTPTransferRequest(.head, url: rig.origin + "/hello"))
      #expect(result.status == 200)
      #expect(result.text == "")
    }
  }

  @Test("content is sent as it is, with the type that was given or none", arguments: [0, 1, 3 << 20])
  func content(_ count: Int) async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      var request = HTTPTransferRequest(.put, url: rig.origin + "/echo", body: body, bodyBytesMax: 4 << 20)
      let untyped = try await rig.send(request).get()
      #expect(untyped.body == body)
      #expect(untyped.fields[.contentType] == "none")
      request.fields[.contentType] = "application/octet-stream"
      #expect(try await rig.send(request).get().fields[.contentType] == "application/octet-stream")
    }
  }

  @Test("content may be as large as allowed, and no larger", arguments: [1000, 1001])
  func bound(_ count: Int) async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let result = await rig.get("/bytes/\(count)", bodyBytesMax: 1000)
      #expect(result.code == (count > 1000 ? .tooLarge : nil))
      #expect(result.text?.utf8.count == (count > 1000 ? nil : count))
    }
  }

  @Test("a name is resolved")
  func names() async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let origin = rig.origin.replacing("127.0.0.1", with: "localhost")
      #expect(await rig.send(HTTPTransferRequest(url: origin + "/hello")).text == "hello tacet")
      #expect(await rig.send(HTTPTransferRequest(url: "http://nobody.invalid/")).code == .unresolved)
    }
  }

  @Test("transfers go by the reactor's own thread")
  func thread() async throws {
    try await TransferRig.run(Self.routes()) { rig in
      let jobs = try await rig.reactor.perform { [client = rig.client, origin = rig.origin] reactor in
        let before = reactor.executor.jobsFromOtherThreads
        for _ in 0..<20 {
          _ = try await client.value(on: reactor).send(HTTPTransferRequest(url: origin + "/hello"), on: reactor)
        }
        return reactor.executor.jobsFromOtherThreads - before
      }
      #expect(jobs == 0)
      #expect(await rig.service?.connectionCount == 1)
    }
  }

  @Test("without an answer the deadline ends it")
  func deadline() async throws {
    let turnstile = Turnstile()
    try await TransferRig.run(Self.routes(turnstile)) { rig in
      #expect(await rig.get("/held", deadline: .milliseconds(50)).code == .timedOut)
      turnstile.open()
      #expect(await rig.get("/held").status == 204)
    }
  }

  @Test("no more run at the same time than may, the others wait, and nobody beyond them")
  func concurrency() async throws {
    let turnstile = Turnstile()
    var configuration = HTTPTransferConfiguration()
    configuration.transfersMax = 2
    configuration.waitingMax = 18
    try await TransferRig.run(Self.routes(turnstile), configuration: configuration) { rig in
      let tasks = (0..<20).map { _ in rig.start(HTTPTransferRequest(url: rig.origin + "/held")) }
      await turnstile.holds(2)
      try await until { await rig.client.perform({ client, _ in client.pendingCount }) >= 20 }
      #expect(await rig.get("/held").code == .tooManyWaiting)
      let late = rig.client
      async let isDrained = late.perform { await $0.drain(within: .seconds(20), on: $1) }
      #expect(await late.perform { await $0.drain(within: .milliseconds(1), on: $1) } == false)
      turnstile.open()
      for task in tasks { #expect(await task.value.status == 204) }
      #expect(await isDrained)
      #expect(turnstile.insideMax == 2)
    }
  }

  @Test("a cancelled task gets no answer, whether its request runs or waits")
  func cancel() async throws {
    let turnstile = Turnstile()
    var configuration = HTTPTransferConfiguration()
    configuration.transfersMax = 1
    try await TransferRig.run(Self.routes(turnstile), configuration: configuration) { rig in
      let running = rig.start(HTTPTransferRequest(url: rig.origin + "/held"))
      await turnstile.holds(1)
      let waiting = rig.start(HTTPTransferRequest(url: rig.origin + "/held"))
      try await until { await rig.client.perform({ client, _ in client.pendingCount }) >= 2 }
      for task in [waiting, running] {
        task.cancel()
        #expect(await task.value.code == .cancelled)
      }
      turnstile.open()
      #expect(await rig.get("/held").status == 204)
    }
  }

  @Test("a close breaks off what runs and what waits, and nothing begins after it")
  func close() async throws {
    let turnstile = Turnstile()
    var configuration = HTTPTransferConfiguration()
    configuration.transfersMax = 1
    try await TransferRig.run(Self.routes(turnstile), configuration: configuration) { rig in
      let tasks = (0..<2).map { _ in rig.start(HTTPTransferRequest(url: rig.origin + "/held")) }
      await turnstile.holds(1)
      try await until { await rig.client.perform({ client, _ in client.pendingCount }) >= 2 }
      await rig.client.perform { $0.close(on: $1) }
      for task in tasks { #expect(await task.value.code == .closed) }
      #expect(await rig.get("/hello").code == .closed)
      turnstile.open()
    }
  }

  @Test(
    "what is no web address is not asked",
    arguments: [
      "", "hello", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://127.0.0.1:99999/", "http://a b/",
    ])
  func addresses(_ url: String) async throws {
    try await TransferRig.run(Self.routes()) { rig in
      #expect(await rig.send(HTTPTransferRequest(url: url)).code == .invalidRequest)
    }
  }
}

@Suite("Where transfers may go", .timeLimit(.minutes(5)))
struct HTTPTransferReachTests {
  private static func configuration(
    includesPrivateAddresses: Bool = true, includesPlainHTTP: Bool = true
  ) -> HTTPTransferConfiguration {
    var configuration = HTTPTransferConfiguration()
    configuration.reach = HTTPTransferReach(
      includesPrivateAddresses: includesPrivateAddresses, includesPlainHTTP: includesPlainHTTP)
    return configuration
  }

  private static func routes(_ requests: Requests) -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, "/") { _, _ in
      requests.count.withLock { $0 += 1 }
      return HTTPServerResponse(status: .noContent)
    }
    return routes
  }

  private final class Requests: Sendable {
    let count = Mutex(0)
  }

  @Test(
    "without private addresses none is connected to, however the host is written",
    arguments: ["127.0.0.1", "localhost", "LOCALHOST", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]"])
  func refusesPrivate(_ host: String) async throws {
    let requests = Requests()
    try await TransferRig.run(
      Self.routes(requests), configuration: Self.configuration(includesPrivateAddresses: false)
    ) { rig in
      let origin = rig.origin.replacing("127.0.0.1", with: host)
      let result = await rig.send(HTTPTransferRequest(url: origin + "/"))
      #expect(result.code == .forbidden, "\(result)")
      #expect(await rig.service?.connectionCount == 0)
    }
    #expect(requests.count.withLock { $0 } == 0)
  }

  @Test("with them the same hosts answer", arguments: ["127.0.0.1", "localhost", "2130706433"])
  func reachesPrivate(_ host: String) async throws {
    try await TransferRig.run(
      Self.routes(Requests()), configuration: Self.configuration(includesPlainHTTP: false)
    ) { rig in
      let origin = rig.origin.replacing("127.0.0.1", with: host)
      #expect(await rig.send(HTTPTransferRequest(url: origin + "/")).status == 204)
    }
  }

  @Test(
    "plain HTTP may be kept on the machine",
    arguments: ["http://192.0.2.1/", "http://10.0.0.1:9/", "http://[2001:db8::1]/", "HTTP://8.8.8.8/"])
  func refusesPlain(_ url: String) async throws {
    try await TransferRig.run(
      Self.routes(Requests()), configuration: Self.configuration(includesPlainHTTP: false)
    ) { rig in
      #expect(await rig.send(HTTPTransferRequest(url: url)).code == .forbidden)
    }
  }

  @Test("a kept connection serves again")
  func keepsConnections() async throws {
    try await TransferRig.run(
      Self.routes(Requests()), configuration: Self.configuration(includesPlainHTTP: false)
    ) { rig in
      for _ in 0..<5 { #expect(await rig.get("/").status == 204) }
      #expect(await rig.service?.connectionCount == 1)
    }
  }
}

@Suite("Kept addresses", .timeLimit(.minutes(5)))
struct AddressBookTests {
  private static func configuration(_ lifetime: Duration) -> HTTPTransferConfiguration {
    var configuration = HTTPTransferConfiguration()
    configuration.addressesLifetime = lifetime
    return configuration
  }

  private static var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, "/hello") { _, _ in HTTPServerResponse(status: .noContent) }
    return routes
  }

  /// The lookups that a run made.
  private static func lookups(
    _ rig: TransferRig, _ work: @escaping @Sendable (HTTPTransferClient, isolated Reactor) async -> Void
  ) async throws -> Int {
    try await rig.reactor.perform { [client = rig.client] reactor in
      let addresses = client.value(on: reactor).addresses
      let before = addresses.lookupCount
      await work(client.value(on: reactor), reactor)
      return addresses.lookupCount - before
    }
  }

  @Test("a name is looked up once while its addresses are kept, and else each time", arguments: [(30, 1), (0, 10)])
  func kept(_ seconds: Int, _ expected: Int) async throws {
    try await TransferRig.run(Self.routes, configuration: Self.configuration(.seconds(seconds))) { rig in
      let url = rig.origin.replacing("127.0.0.1", with: "localhost") + "/hello"
      let count = try await Self.lookups(rig) { client, reactor in
        for _ in 0..<10 {
          let response = try? await client.send(HTTPTransferRequest(url: url), on: reactor)
          #expect(response?.status.code == 204)
        }
      }
      #expect(count == expected)
    }
  }

  @Test("transfers at the same time share a lookup")
  func shared() async throws {
    try await TransferRig.run(Self.routes, configuration: Self.configuration(.seconds(30))) { rig in
      let url = rig.origin.replacing("127.0.0.1", with: "localhost") + "/hello"
      let count = try await Self.lookups(rig) { client, reactor in
        for _ in 0..<10 {
          reactor.start { _ = try? await client.send(HTTPTransferRequest(url: url), on: reactor) }
        }
        while client.pendingCount < 10 { await reactor.sleep(for: .zero) }
        #expect(await client.drain(within: .seconds(20), on: reactor))
      }
      #expect(count == 1)
    }
  }

  @Test("a failure is not kept, and neither are addresses that refuse connections")
  func failures() async throws {
    try await TransferRig.run(Self.routes, configuration: Self.configuration(.seconds(30))) { rig in
      for (url, code) in [
        ("http://nobody.invalid/", HTTPTransferError.Code.unresolved), ("http://localhost:1/", .unreachable),
      ] {
        let count = try await Self.lookups(rig) { client, reactor in
          for _ in 0..<2 {
            do throws(HTTPTransferError) {
              _ = try await client.send(HTTPTransferRequest(url: url), on: reactor)
              Issue.record("an answer from \(url)")
            } catch {
              #expect(error.code == code)
            }
          }
        }
        #expect(count == 2)
      }
    }
  }
}
