import APNS
import APNSCore
import APNSSimulation
import Crypto
import Foundation
import Logging
import Reactors
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
    let key = P256.Signing.PrivateKey()
    let (simulator, port) = try await startSimulator(key, acceptsTokens: acceptsTokens)
    let authority = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: authority) }
    try (simulator.certificateAuthority ?? "").write(to: authority, atomically: true, encoding: .utf8)
    let credentials = try ProviderCredentials(
      keyIdentifier: "BENCHKEY01", teamIdentifier: "BENCHTEAM1", privateKey: key.pemRepresentation)
    let measurement = try APNSMeasurement(
      endpoint: APNSEndpoint(host: "127.0.0.1", port: port),
      context: APNSClient.makeContext(certificatesFile: authority.path),
      tokens: try await ProviderTokenSource(credentials),
      series: PushSeries(to: ["00ff"], ofApp: BundleIdentifier("com.example.bench")),
      configuration: APNSConfiguration(), concurrency: 4,
      logger: Logger(label: "test"))
    let report = try await onReactor { try await measurement.run(pushes: 30, warmUp: 5, rate: nil, on: $0) }
    await simulator.stop()
    return report
  }

  private func startSimulator(
    _ key: P256.Signing.PrivateKey, acceptsTokens: Bool
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
