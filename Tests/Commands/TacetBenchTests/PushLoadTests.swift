import Channels
import Cryptography
import Foundation
import PushRules
import Reactors
import Simulators
import TestReactors
import Testing

@testable import tacet_bench

@Suite("A load of pushes")
struct PushLoadTests {
  @Test("every push of the range is sent once")
  func once() async throws {
    try await onReactor { reactor in
      let channel = MockChannel()
      let books = try await makeLoad(over: channel).send(10..<15, on: reactor)
      #expect(books.statuses == [200: 5])
      #expect(books.latencies.count == 5)
      #expect(channel.identifiers.count == 5)
      #expect(Set(channel.identifiers).count == 5)
    }
  }

  @Test("as many are in flight as the concurrency says, and never more", arguments: [1, 3, 8])
  func concurrency(_ limit: Int) async throws {
    try await onReactor { reactor in
      let channel = MockChannel()
      _ = try await makeLoad(over: channel, concurrency: limit).send(0..<40, on: reactor)
      #expect(channel.inFlightMax == limit)
    }
  }

  @Test("a push that has no answer is lost, and said to be by its reason")
  func lost() async throws {
    try await onReactor { reactor in
      let channel = MockChannel([.unknown(cause: ""), .answered(APNSAnswer(status: 503)), .notProcessed(cause: "")])
      let books = try await makeLoad(over: channel).send(0..<4, on: reactor)
      #expect(books.statuses == [200: 1, 503: 1])
      #expect(books.failures == ["apns_answer_lost": 1, "apns_unreachable": 1])
      #expect(books.lost == 2)
      #expect(books.latencies.count == 4)
    }
  }

  private func makeLoad(over channel: MockChannel, concurrency: Int = 2) throws -> PushLoad {
    let series = try PushSeries(to: ["00ff"])
    return PushLoad(series, over: channel, concurrency: concurrency)
  }
}

/// Follows its script, then accepts everything; answers in the tick after the push.
private final class MockChannel: APNSSender {
  private var script: [APNSOutcome]
  private var inFlight = 0
  private(set) var inFlightMax = 0
  private(set) var identifiers: [PushIdentifier] = []

  init(_ script: [APNSOutcome] = []) {
    self.script = script.reversed()
  }

  func send(
    _ request: APNSRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    identifiers.append(request.identifier)
    inFlight += 1
    inFlightMax = max(inFlightMax, inFlight)
    await reactor.sleep(for: .nanoseconds(1))
    inFlight -= 1
    return script.popLast() ?? .answered(APNSAnswer(status: 200))
  }
}

@Suite("A measurement")
struct APNSMeasurementTests {
  @Test("against the simulator has every push accepted, and counts the warm-up apart")
  func accepted() async throws {
    let report = try await measure(acceptsTokens: true)
    #expect(report.pushes == 30)
    #expect(report.statuses == ["200": 30])
    #expect(report.lost == 0)
    #expect(report.cpuMicrosecondsPerPush > 0)
  }

  @Test("of pushes that are refused for good loses none and says which status they had")
  func refused() async throws {
    let report = try await measure(acceptsTokens: false)
    #expect(report.statuses == ["400": 30])
    #expect(report.lost == 0)
  }

  private func measure(acceptsTokens: Bool) async throws -> LoadReport {
    let key = P256PrivateKey()
    let (simulator, port) = try await startSimulator(key, acceptsTokens: acceptsTokens)
    let authority = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: authority) }
    try (simulator.certificateAuthority ?? "").write(to: authority, atomically: true, encoding: .utf8)
    let credentials = try ProviderCredentials(
      keyIdentifier: "BENCHKEY01", teamIdentifier: "BENCHTEAM1", privateKey: key.pem)
    let measurement = try APNSMeasurement(
      endpoint: APNSEndpoint(host: "127.0.0.1", port: port),
      context: APNSClient.makeContext(certificatesFile: authority.path),
      tokens: try ProviderTokenSource(credentials),
      series: PushSeries(to: ["00ff"]), concurrency: 4)
    let report = try await onReactor { try await measurement.run(pushes: 30, warmUp: 5, on: $0) }
    await simulator.stop()
    return report
  }

  private func startSimulator(
    _ key: P256PrivateKey, acceptsTokens: Bool
  ) async throws -> (APNSSimulator, UInt16) {
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners[.production] = SocketAddress(numericHost: "127.0.0.1", port: 0)
    configuration.registry.register(
      ProviderKey(identifier: "BENCHKEY01", team: "BENCHTEAM1", publicKey: key.publicKey))
    configuration.registry.registerBundle("com.example.app", team: nil)
    configuration.registry.acceptsAnyToken = acceptsTokens
    let simulator = try APNSSimulator(configuration)
    let addresses = try await simulator.start()
    return (simulator, try #require(addresses.listeners[.production]).port)
  }
}

@Suite("A series of pushes")
struct PushSeriesTests {
  private let tokens = ["00ff", "11ee", "22dd"]

  private func makeSeries() throws -> PushSeries {
    try PushSeries(to: tokens)
  }

  @Test("devices take turns")
  func turns() throws {
    let series = try makeSeries()
    #expect(try (0..<5).map { try series.request($0).deviceToken.hexadecimal } == tokens + tokens[..<2])
  }

  @Test("a push has identifiers of its own, and the same ones when it is built again")
  func identifiers() throws {
    let series = try makeSeries()
    let requests = try (0..<100).map { try series.request($0) }
    #expect(Set(requests.map(\.identifier)).count == 100)
    #expect(Set(requests.map(\.collapseIdentifier)).count == 100)
    #expect(try series.request(99) == requests[99])
    #expect(requests.allSatisfy { $0.collapseIdentifier?.text.utf8.count == 36 })
  }

  @Test("two series have nothing in common")
  func runs() throws {
    #expect(try makeSeries().request(0).identifier != makeSeries().request(0).identifier)
  }

  @Test("bodies are those of a usual message, and equally long")
  func bodies() throws {
    let series = try makeSeries()
    let sizes = try Set((0..<100).map { try series.request($0).body.count })
    #expect(sizes == [series.bodyBytes])
    #expect((290...340).contains(series.bodyBytes))
  }

  @Test("a malformed device token is found before anything is sent")
  func malformed() {
    #expect(throws: PushRequestError.self) {
      try PushSeries(to: ["00ff", "0g"])
    }
  }
}

@Suite("The server's address")
struct ServerAddressTests {
  @Test(
    "is an https URL of a host and perhaps a port",
    arguments: [
      ("https://127.0.0.1:2197", "127.0.0.1", 2197), ("https://api.push.apple.com", "api.push.apple.com", 443),
      ("https://localhost:1/", "localhost", 1), ("https://[::1]:65535", "::1", 65535),
    ] as [(String, String, UInt16)])
  func taken(text: String, host: String, port: UInt16) {
    #expect(ServerAddress(argument: text)?.endpoint == APNSEndpoint(host: host, port: port))
  }

  @Test(
    "is nothing else",
    arguments: [
      "", "127.0.0.1:2197", "http://127.0.0.1:2197", "https://", "https://host:0", "https://host:65536",
      "https://host:1/path", "https://host:1?query=1",
    ])
  func refused(text: String) {
    #expect(ServerAddress(argument: text) == nil)
  }
}

@Suite("The report of a load")
struct LoadReportTests {
  @Test("rates and costs are those of the pushes that ended")
  func figures() {
    var books = LoadBooks()
    for latency in [3_000_000, 1_000_000, 2_000_000, 4_000_000] as [UInt64] {
      books.latencies.record(nanoseconds: latency)
    }
    let report = report(books)
    #expect(report.pushes == 4)
    #expect(report.pushesPerSecond == 2)
    #expect(report.cpuMicrosecondsPerPush == 10)
    #expect(report.cpuMicrosecondsComposing == 2)
    // Histograms keep three digits.
    #expect((1.99...2.01).contains(report.latencyMillisecondsP50))
    #expect((3.99...4.01).contains(report.latencyMillisecondsP99))
  }

  @Test("as JSON it is one line with the names that scripts look for")
  func json() throws {
    var books = LoadBooks()
    books.record(.answered(APNSAnswer(status: 200)))
    books.record(.unknown(cause: ""))
    let text = try report(books).json()
    #expect(!text.contains("\n"))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["statuses"] as? [String: Int] == ["200": 1])
    for (name, value) in ["lost": 1, "body_bytes": 250] { #expect(object[name] as? Int == value) }
    for name in [
      "pushes_per_second", "cpu_microseconds_per_push", "cpu_microseconds_composing", "latency_milliseconds_p99",
      "failures",
    ] {
      #expect(object[name] != nil)
    }
  }

  private func report(_ books: LoadBooks) -> LoadReport {
    LoadReport(books, nanoseconds: 2_000_000_000, processor: 40_000, composing: 8000, bodyBytes: 250)
  }
}
