import HTTP1
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPTransfers

@Suite("Where transfers may go", .timeLimit(.minutes(1)))
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
