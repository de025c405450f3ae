import HTTP1
import HTTPTypes
import Reactors
import Testing

@testable import HTTPTransfers

@Suite("Kept addresses", .timeLimit(.minutes(1)))
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
