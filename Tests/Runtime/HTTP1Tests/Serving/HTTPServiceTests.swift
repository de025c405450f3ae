import CLinux
import Dispatch
import HTTPTypes
import Logging
import PrometheusMetrics
import Reactors
import Synchronization
import TestLogs
import TestReactors
import Testing

@testable import HTTP1

private let close = "Host: a\r\nConnection: close\r\n"

@Suite(.timeLimit(.minutes(5))) struct HTTPServiceTests {
  @Test("requests are answered over every family", arguments: ["127.0.0.1", "::1", "unix"])
  func servesFamilies(_ host: String) async throws {
    let path = "/tmp/tacet-http-\(clinux_thread_id()).sock"
    let address = host == "unix" ? SocketAddress(unixPath: path) : SocketAddress(numericHost: host, port: 0)
    try await ServiceRig.run(testRoutes(), on: address) { rig in
      let answer = try await rig.exchange("GET /hello HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test(
    "each situation has its status",
    arguments: [
      ("GET /hello", "", "", 200), ("HEAD /hello", "", "", 200), ("GET /nothing", "", "", 404),
      ("DELETE /hello", "", "", 405), ("OPTIONS /hello", "", "", 204), ("OPTIONS *", "", "", 204),
      ("POST /echo", "Content-Length: 3\r\n", "abc", 200), ("POST /echo", "Content-Length: 101\r\n", "", 413),
      ("POST /nothing", "Content-Length: 3\r\n", "abc", 404), ("GET /problem", "", "", 422),
      ("GET /failure", "", "", 500),
      ("PUT /json", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}", 200),
      ("PUT /json", "Content-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\n", "{}", 200),
      ("PUT /json", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}", 415),
      ("PUT /json", "Content-Type: application/jsonx\r\nContent-Length: 2\r\n", "{}", 415),
      ("PUT /json", "Content-Length: 2\r\n", "{}", 415), ("PUT /json", "", "", 200),
      ("POST /echo", "Expect: 100-continue\r\nContent-Length: 101\r\n", "", 413), ("G@T /", "", "", 400),
    ])
  func hasStatus(_ line: String, _ fields: String, _ body: String, _ status: Int) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("\(line) HTTP/1.1\r\n\(close)\(fields)\r\n\(body)")
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
      #expect((status >= 400) == answer.contains("Content-Type: application/problem+json\r\n"))
    }
  }

  @Test("a handler that hangs up says nothing, and its connection ends", arguments: ["/gone", "/gone-at-once"])
  func hangsUp(_ path: String) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address, sending: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await client.readToEnd() == "")
      try await until { await rig.service.connectionCount == 0 }
    }
  }

  @Test(
    "an answer may not be stored, its type not guessed, and nothing is told about the server or a handler's error",
    arguments: ["/hello", "/nothing", "/failure"])
  func hasSafeFields(_ path: String) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET \(path) HTTP/1.1\r\n\(close)\r\n")
      for field in ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Date: "] {
        #expect(answer.contains("\r\n\(field)"))
      }
      #expect(!answer.contains("\r\nServer:") && !answer.contains("HandlerFailure"))
    }
  }

  @Test(
    "a wrong method is told the right ones, parameters come decoded, and a thrown problem is the answer",
    arguments: [
      ("PUT /hello", "Allow: GET, HEAD, OPTIONS\r\n"),
      ("GET /v1/a%20b/items/%2F", "\r\n\r\na b|/|/v1/{kind}/items/{id}"),
      ("GET /problem", #""status":422,"detail":"no \"good\"","field":"title"}"#),
    ])
  func answers(_ line: String, _ part: String) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("\(line) HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.contains(part))
    }
  }

  @Test("pipelined requests are answered in order")
  func answersPipelines() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
      let answer = try await rig.exchange(
        String(repeating: request, count: 2000) + "GET /nothing HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.split(separator: "HTTP/1.1 200 OK").count == 2000)
      #expect(answer.contains("HTTP/1.1 404"))
    }
  }

  @Test("a client that waits for it is told to continue")
  func continues() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
      #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      client.send("abc")
      #expect(await client.read(until: "abc").hasPrefix("HTTP/1.1 200 OK"))
    }
  }

  @Test("an answer larger than the socket's buffers arrives whole at a slow reader")
  func waitsForSlowReaders() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET /large HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.utf8.count > 32 * 1024 * 1024)
      #expect(answer.hasSuffix("xxxx"))
    }
  }

  @Test("a refusal reaches a client that is still sending")
  func lingers() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
      client.send([UInt8](repeating: 0, count: 100_000))
      client.finishSending()
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct HTTPConnectionTests {
  @Test("a thousand requests cross no thread, and every handler runs on its reactor's thread")
  func crossesNoThread() async throws {
    let threads = Mutex<[Int32: Int]>([:])
    var routes = HTTPRoutes()
    routes.add(.get, "/") { _, reactor in
      await reactor.sleep(for: .zero)
      threads.withLock { $0[clinux_thread_id(), default: 0] += 1 }
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes) { rig in
      let reactor = rig.reactors[0]
      let own = try await reactor.perform { _ in clinux_thread_id() }
      let client = try TestClient(rig.address)
      let before = reactor.executor.jobsFromOtherThreads
      for _ in 0..<1000 {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      }
      #expect(reactor.executor.jobsFromOtherThreads == before)
      #expect(threads.withLock { $0 } == [own: 1000])
    }
  }

  @Test("bytes that arrive while a handler runs do not keep the reactor busy")
  func ignoresEarlyBytes() async throws {
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let client = try TestClient(rig.address, sending: "GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.holds()
      client.send("GET /gated HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let ticks = try await quietTicks(rig.reactors[0])
      #expect(ticks < 20)
      gate.open()
      #expect(await client.readToEnd().split(separator: "HTTP/1.1 200").count == 2)
    }
  }

  @Test("a client that vanishes while its handler runs does not keep the reactor busy")
  func ignoresVanishedClients() async throws {
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      var client: TestClient? = try TestClient(rig.address)
      client?.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.holds()
      client?.resetOnClose()
      client = nil
      #expect(try await quietTicks(rig.reactors[0]) < 20)
      gate.open()
      try await until { await rig.service.connectionCount == 0 }
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct HTTPServiceDrainTests {
  @Test("draining refuses new connections, closes quiet ones and lets the request in flight finish")
  func drainsGracefully() async throws {
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let quiet = try TestClient(rig.address, sending: "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await quiet.read(until: "\r\n\r\n")
      let busy = try TestClient(rig.address, sending: "GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.holds()
      async let drained = rig.service.drain(within: .seconds(60))
      #expect(await quiet.readToEnd() == "")
      #expect(throws: TestClient.ConnectFailed.self) { _ = try TestClient(rig.address) }
      gate.open()
      let answer = await busy.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("Connection: close\r\n"))
      _ = consume busy
      #expect(await drained)
    }
  }

  @Test("draining gives up at its deadline")
  func drainsWithinDeadline() async throws {
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let busy = try TestClient(rig.address, sending: "GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.holds()
      let isEmpty = await rig.service.drain(within: .milliseconds(20))
      #expect(!isEmpty)
      gate.open()
      _ = await busy.readToEnd()
    }
  }

  @Test("a head that is being received when draining begins is answered")
  func finishesBegunHeads() async throws {
    try await ServiceRig.run(gatedRoutes(Turnstile())) { rig in
      let client = try TestClient(rig.address, sending: "GET /quick HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\n")
      _ = await client.read(until: "\r\n\r\n")
      async let drained = rig.service.drain(within: .seconds(60))
      try await until { (try? TestClient(rig.address)) == nil }
      client.send("Host: a\r\n\r\n")
      #expect(await client.readToEnd().contains("Connection: close\r\n"))
      client.finishSending()
      #expect(await drained)
    }
  }

  @Test("connections that the kernel has made and nobody has accepted are answered, however many")
  func answersTheQueue() async throws {
    let bolt = DispatchSemaphore(value: 0)
    let isBolted = DispatchSemaphore(value: 0)
    var routes = gatedRoutes(Turnstile())
    routes.add(.get, "/bolted") { _, _ in
      // Holds the reactor itself, so that nothing is accepted.
      isBolted.signal()
      bolt.wait()
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes) { rig in
      let bolter = try TestClient(rig.address, sending: "GET /bolted HTTP/1.1\r\nHost: a\r\n\r\n")
      await TestClient.onOwnThread { isBolted.wait() }
      let clients = try (0..<200).map { _ in try TestClient(rig.address) }
      for client in clients { client.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n") }
      async let drained = rig.service.drain(within: .seconds(60))
      bolt.signal()
      for client in clients { #expect(await client.readToEnd().hasPrefix("HTTP/1.1 200 ")) }
      _ = (consume bolter, consume clients)
      #expect(await drained)
    }
  }

  @Test("a request that comes on a kept connection while the service says farewell is answered, as the last one")
  func answersFarewell() async throws {
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let kept = try TestClient(rig.address, sending: "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await kept.read(until: "\r\n\r\n")
      let busy = try TestClient(rig.address)
      busy.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.holds()
      kept.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      async let drained = rig.service.drain(within: .seconds(60))
      #expect(await kept.readToEnd().hasPrefix("HTTP/1.1 200 "))
      gate.open()
      let answers = await busy.readToEnd()
      #expect(answers.split(separator: "HTTP/1.1 200 ").count == 1 && answers.contains("Connection: close\r\n"))
      _ = (consume kept, consume busy)
      #expect(await drained)
    }
  }

  @Test("a connection that asks nothing is closed after a while; one that asks in that while is answered")
  func firstRequests() async throws {
    try await ServiceRig.run(gatedRoutes(Turnstile())) { rig in
      let idle = try TestClient(rig.address, sending: "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await idle.read(until: "\r\n\r\n")
      let silent = try TestClient(rig.address)
      let late = try TestClient(rig.address)
      async let drained = rig.service.drain(within: .seconds(60))
      // It is closed when the farewell is over.
      #expect(await idle.readToEnd(thenSending: "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n", on: late) == "")
      #expect(await late.readToEnd().contains("Connection: close\r\n"))
      #expect(await silent.readToEnd() == "")
      _ = consume late
      #expect(await drained)
    }
  }
}

private let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite(.timeLimit(.minutes(5))) struct HTTPServiceMeterTests {
  private let meter = HTTPServiceMeter()

  @Test("connections and answers are counted over all reactors, refusals by their status")
  func answers() async throws {
    #expect(await meter.read() == HTTPServiceFigures())
    try await ServiceRig.run(testRoutes(), reactorCount: 2, meter: meter) { rig in
      let clients = try await rig.openConnections(8)
      for request in [
        "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /problem HTTP/1.1\r\nHost: a\r\n\r\n",
      ] {
        _ = try await rig.exchange(request)
      }
      try await until { await rig.service.connectionCount <= 8 }
      let figures = await meter.read()
      #expect(figures.accepted == 11 && figures.open == 8)
      #expect(figures.responses == [200: 8, 400: 1, 404: 1, 422: 1])
      #expect(figures.turnedAway.isEmpty && figures.failedHandshakes == 0)
      _ = consume clients
    }
  }

  @Test("answers are counted and timed by the pattern of their route, never by a path")
  func routes() async throws {
    let registry = PrometheusRegistry([MetricDescription("tacet_http_request_duration_seconds", "", bounds: [60])])
    try await ServiceRig.run(testRoutes(), reactorCount: 2, meter: meter, metrics: registry) { rig in
      for path in ["/hello", "/hello", "/problem", "/nowhere", "/v1/a/items/b"] {
        _ = try await rig.exchange("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      }
      let answers = await meter.read().answers
      let hello = HTTPOperation(method: .get, pattern: "/hello")
      #expect(answers[.init(hello, status: 200)] == 2)
      #expect(answers[.init(HTTPOperation(method: .get, pattern: "/problem"), status: 422)] == 1)
      #expect(answers[.init(nil, status: 404)] == 1)
      #expect(answers[.init(HTTPOperation(method: .get, pattern: "/v1/{kind}/items/{id}"), status: 200)] == 1)
      #expect(answers.count == 4)
    }
    let lines = ExpositionText.make(registry.collect()).split(separator: "\n")
    let counts = lines.filter { $0.hasPrefix("tacet_http_request_duration_seconds_count") && !$0.hasSuffix(" 0") }
    #expect(
      counts == [
        #"tacet_http_request_duration_seconds_count{method="GET",route="/hello"} 2"#,
        #"tacet_http_request_duration_seconds_count{method="GET",route="/problem"} 1"#,
        #"tacet_http_request_duration_seconds_count{method="GET",route="/v1/{kind}/items/{id}"} 1"#,
      ])
  }

  @Test(
    "connections that are turned away are counted by reason, and are one line of the log",
    arguments: [HTTPServiceFigures.TurnAway.full, .peer])
  func turnsAway(_ reason: HTTPServiceFigures.TurnAway) async throws {
    let configuration = HTTPServiceConfiguration.limited {
      $0.reserveMax = 0
      if reason == .full { $0.totalMax = 1 } else { $0.perPeerMax = 1 }
    }
    let lines = LogLines()
    try await ServiceRig.run(testRoutes(), configuration: configuration, meter: meter, logger: lines.logger) { rig in
      let clients = try await rig.openConnections(1)
      for _ in 0..<3 { _ = try await TestClient(rig.address).readToEnd() }
      let figures = await meter.read()
      #expect(figures.turnedAway == [reason: 3] && figures.accepted == 1 && figures.responses == [200: 1])
      let warnings = lines.all.filter { $0.level >= .warning }
      #expect(warnings.map(\.message) == ["connections turned away"])
      #expect(warnings.map(\.metadata) == [["reason": "\(reason)", "count": "1"]])
      _ = consume clients
    }
  }

  @Test(
    "a handshake that fails is counted, a peer that says nothing is none",
    arguments: [("\u{16}\u{3}", 1), ("GET", 1), ("", 0)])
  func handshakes(_ text: String, _ count: Int) async throws {
    try await ServiceRig.run(testRoutes(), tls: try TestIdentity().server(), meter: meter) { rig in
      let client = try TestClient(rig.address, sending: text)
      client.finishSending()
      _ = await client.readToEnd()
      try await until { await rig.service.connectionCount == 0 }
      let figures = await meter.read()
      #expect(figures.accepted == 1 && figures.failedHandshakes == count)
    }
  }
}
