import CoreMetrics
import Foundation
import HTTP1
import HTTPTypes
import Logging
import TestReactors

@testable import Reactors

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
    let result = await Result(awaiting: { () async throws in
      try await test(ServiceRig(service: service, reactors: group.reactors))
    })
    _ = await service.drain(within: .seconds(1))
    await group.stop()
    try result.get()
  }

  /// Sends on a connection of its own and reads until the server closes it.
  func exchange(_ request: String) async throws -> String {
    let client = try TestClient(address, sending: request)
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
func gatedRoutes(_ gate: Turnstile) -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.add(.get, "/quick") { _, _ in HTTPServerResponse(status: .ok) }
  routes.add(.get, "/gated") { _, _ in
    await gate.pass()
    return HTTPServerResponse(status: .ok)
  }
  return routes
}

/// A blocking connection, as a client's that does exactly what the test says. Reads give up after half a minute.
final class TestClient {
  struct ConnectFailed: Error {}

  let descriptor: Int32

  /// - Parameter afterSocket: called when the client has its descriptor and before it connects.
  init(_ address: SocketAddress, afterSocket: () -> Void = {}) throws {
    descriptor = try Self.connected(address, afterSocket)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  convenience init(_ address: SocketAddress, sending text: String) throws {
    try self.init(address)
    send(text)
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Stops quietly when the server has closed.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Makes the close a reset, as of a client that crashed.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Everything up to the server's close; says so at the end if none came in time.
  func readToEnd() async -> String {
    await Self.onOwnThread { [descriptor] in
      var all = ""
      while let piece = Self.readSome(descriptor) { all += piece }
      return errno == EAGAIN ? all + " (still open)" : all
    }
  }

  /// Everything up to the server's close, upon which something is sent on another connection, however long the pool's threads are busy.
  func readToEnd(thenSending text: String, on other: TestClient) async -> String {
    await Self.onOwnThread { [descriptor, other = other.descriptor] in
      var all = ""
      while let piece = Self.readSome(descriptor) { all += piece }
      _ = Foundation.send(other, text, text.utf8.count, Int32(MSG_NOSIGNAL))
      return all
    }
  }

  /// What has arrived until it ends with this text.
  func read(until end: String) async -> String {
    await Self.onOwnThread { [descriptor] in
      var all = ""
      while !all.hasSuffix(end), let piece = Self.readSome(descriptor) { all += piece }
      return all
    }
  }

  /// `nil` at the end of the stream.
  func readSome(atMost bytesMax: Int = 65536) async -> String? {
    await Self.onOwnThread { [descriptor] in Self.readSome(descriptor, atMost: bytesMax) }
  }

  private static func readSome(_ descriptor: Int32, atMost bytesMax: Int = 65536) -> String? {
    var buffer = [UInt8](repeating: 0, count: bytesMax)
    errno = 0
    let count = recv(descriptor, &buffer, bytesMax, 0)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// The pool has as many threads as the machine has processors; a few tests that block them would starve the others.
  static func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: work()) }
    }
  }

  private static func connected(_ address: SocketAddress, _ afterSocket: () -> Void) throws -> Int32 {
    let isUnix = address.isUnix
    let descriptor = socket(
      isUnix ? AF_UNIX : address.description.hasPrefix("[") ? AF_INET6 : AF_INET,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    afterSocket()
    guard descriptor >= 0, address.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw ConnectFailed()
    }
    return descriptor
  }
}

extension TestClient {
  /// One answer with its content, which has a length.
  func readAnswer() async -> String {
    var all = ""
    while let piece = await readSome() {
      all += piece
      guard let end = all.range(of: "\r\n\r\n") else { continue }
      let length = all.firstMatch(of: /\r\nContent-Length: (\d+)\r\n/).flatMap { Int($0.1) } ?? 0
      if all[end.upperBound...].utf8.count >= length { break }
    }
    return all
  }
}
