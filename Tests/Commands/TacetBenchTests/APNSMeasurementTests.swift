import Channels
import Cryptography
import Foundation
import Logging
import PushRules
import Reactors
import Simulators
import TestReactors
import Testing

@testable import tacet_bench

@Suite("A measurement")
struct APNSMeasurementTests {
  @Test("against the simulator has every push accepted, and counts the warm-up apart")
  func accepted() async throws {
    let report = try await measure(acceptsTokens: true)
    #expect(report.pushes == 30)
    #expect(report.statuses == ["200": 30])
    #expect(report.connectionsOpened == 1)
    #expect(report.resends == 0)
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
      series: PushSeries(to: ["00ff"], ofApp: BundleIdentifier("com.example.bench")),
      configuration: APNSConfiguration(), concurrency: 4,
      logger: Logger(label: "test"))
    let report = try await onReactor { try await measurement.run(pushes: 30, warmUp: 5, rate: nil, on: $0) }
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
    configuration.registry.registerBundle("com.example.bench", team: nil)
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
    try PushSeries(to: tokens, ofApp: BundleIdentifier("com.example.app"))
  }

  @Test("devices take turns")
  func turns() throws {
    let series = try makeSeries()
    #expect(try (0..<5).map { try series.request($0).head.deviceToken.hexadecimal } == tokens + tokens[..<2])
  }

  @Test("a push has identifiers of its own, and the same ones when it is built again")
  func identifiers() throws {
    let series = try makeSeries()
    let heads = try (0..<100).map { try series.request($0).head }
    #expect(Set(heads.map(\.identifier)).count == 100)
    #expect(Set(heads.map(\.collapseIdentifier)).count == 100)
    #expect(try series.request(99).head == heads[99])
    #expect(heads.allSatisfy { $0.collapseIdentifier?.text.utf8.count == 36 })
  }

  @Test("two series have nothing in common")
  func runs() throws {
    #expect(try makeSeries().request(0).head.identifier != makeSeries().request(0).head.identifier)
  }

  @Test("bodies are those of a usual message, and equally long")
  func bodies() throws {
    let series = try makeSeries()
    let sizes = try Set((0..<100).map { try series.request($0).body.count })
    #expect(sizes == [series.bodyBytes])
    #expect((220...280).contains(series.bodyBytes))
  }

  @Test("a malformed device token is found before anything is sent")
  func malformed() {
    #expect(throws: PushRequestError.self) {
      try PushSeries(to: ["00ff", "0g"], ofApp: BundleIdentifier("com.example.app"))
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
