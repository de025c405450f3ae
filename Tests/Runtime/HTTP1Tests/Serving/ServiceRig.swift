import CoreMetrics
import HTTP1
import HTTPTypes
import Logging
import Reactors

/// A service on a free loopback port for the length of a test.
struct ServiceRig {
  let service: HTTPService
  let reactors: [Reactor]
  var address: SocketAddress { service.address }

  /// - Parameter limit: how long the drain at the end may take.
  static func run(
    _ routes: HTTPRoutes, on address: SocketAddress? = nil, reactorCount: Int = 1,
    configuration: HTTPServiceConfiguration = HTTPServiceConfiguration(), tls: TLSContext? = nil,
    meter: HTTPServiceMeter = HTTPServiceMeter(), metrics: any MetricsFactory = NOOPMetricsHandler.instance,
    logger: Logger? = nil,
    _ test: (ServiceRig) async throws -> Void
  ) async throws {
    guard let address = address ?? SocketAddress(numericHost: "127.0.0.1", port: 0) else { return }
    let group = try ReactorGroup(count: reactorCount)
    let service = try await HTTPService.start(
      routes, on: address, reactors: group.reactors, configuration: configuration, tls: tls, meter: meter,
      metrics: metrics, logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    do {
      try await test(ServiceRig(service: service, reactors: group.reactors))
    } catch {
      _ = await service.drain(within: .seconds(1))
      await group.stop()
      throw error
    }
    _ = await service.drain(within: .seconds(1))
    await group.stop()
  }

  /// Sends on a connection of its own and reads until the server closes it.
  func exchange(_ request: String) async throws -> String {
    let client = try TestClient(address)
    client.send(request)
    client.finishSending()
    return await client.readToEnd()
  }
}

/// A table with one route for each thing tests need.
func testRoutes() -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.add(.get, "/health", isHealthCheck: true) { _, _ in HTTPServerResponse(status: .noContent) }
  routes.add(.get, "/client") { request, _ in
    HTTPServerResponse(status: .ok, body: Array((request.client?.description ?? "nobody").utf8))
  }
  routes.add(.get, "/hello") { _, _ in HTTPServerResponse(status: .ok, body: Array("hello".utf8)) }
  routes.add(.post, "/echo", bodyBytesMax: 100) { request, _ in
    HTTPServerResponse(status: .ok, body: request.body)
  }
  routes.add(.put, "/json", mediaTypes: ["application/json"]) { request, _ in
    HTTPServerResponse(status: .ok, json: request.body)
  }
  routes.add(.get, "/large") { _, _ in
    HTTPServerResponse(status: .ok, body: [UInt8](repeating: UInt8(ascii: "x"), count: 32 * 1024 * 1024))
  }
  routes.add(.get, "/problem") { _, _ in
    throw ProblemDetails(.unprocessableContent, detail: "no \"good\"", extensions: [("field", .string("title"))])
  }
  routes.add(.get, "/gone") { _, _ in throw HTTPHangUp() }
  routes.add(.get, "/gone-at-once", immediate: { _, _ in throw HTTPHangUp() })
  routes.add(.get, "/failure") { _, _ in throw HandlerFailure() }
  routes.add(.get, "/v1/{kind}/items/{id}") { request, _ in
    let text = "\(request.parameter("kind"))|\(request.parameter("id"))|\(request.route)"
    return HTTPServerResponse(status: .ok, body: Array(text.utf8))
  }
  return routes
}

struct HandlerFailure: Error {}

/// A route that answers at once, and one that answers when the gate opens.
func gatedRoutes(_ gate: Gate) -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.add(.get, "/quick") { _, _ in HTTPServerResponse(status: .ok) }
  routes.add(.get, "/gated") { _, _ in
    await gate.pass()
    return HTTPServerResponse(status: .ok)
  }
  return routes
}
