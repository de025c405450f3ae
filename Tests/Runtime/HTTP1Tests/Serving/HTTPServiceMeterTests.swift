import HTTPTypes
import Logging
import PrometheusMetrics
import Reactors
import TestLogs
import Testing

@testable import HTTP1

private let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite(.timeLimit(.minutes(1))) struct HTTPServiceMeterTests {
  private let meter = HTTPServiceMeter()

  @Test("before its service has started a meter shows nothing")
  func empty() async {
    #expect(await meter.read() == HTTPServiceFigures())
  }

  @Test("connections and answers are counted over all reactors, refusals by their status")
  func answers() async throws {
    try await ServiceRig.run(testRoutes(), reactorCount: 2, meter: meter) { rig in
      let clients = try await rig.openConnections(8)
      for request in [
        "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /problem HTTP/1.1\r\nHost: a\r\n\r\n",
      ] {
        _ = try await rig.exchange(request)
      }
      while await rig.service.connectionCount > 8 { await Task.yield() }
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
      let client = try TestClient(rig.address)
      client.send(text)
      client.finishSending()
      _ = await client.readToEnd()
      while await rig.service.connectionCount > 0 { await Task.yield() }
      let figures = await meter.read()
      #expect(figures.accepted == 1 && figures.failedHandshakes == count)
    }
  }
}
