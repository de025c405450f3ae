import Cryptography
import FoundationEssentials
import Glibc
import HTTPTransfers
import HTTPTypes
import Reactors

/// The ready service of one run.
final class RunningService {
  /// The time to become ready. A start takes a fraction of a second.
  private static let readyLimit = Duration.seconds(20)

  let child: ServiceChild
  /// From the start of the process to its first readiness response, in nanoseconds.
  let readyAfter: UInt64

  private init(_ child: ServiceChild, readyAfter: UInt64) {
    self.child = child
    self.readyAfter = readyAfter
  }

  /// Starts the service and checks its readiness every millisecond.
  /// - Parameter settings: the settings for a listen address.
  static func start(
    _ program: String, log: String, settings: (_ listenAddress: String) -> [String: String],
    on reactor: isolated Reactor
  ) async throws -> RunningService {
    let address = try freeAddress()
    let child = try ServiceChild(program, settings: settings(address), log: log)
    let client = HTTPTransferClient(on: reactor)
    defer { client.close(on: reactor) }
    while !(await isReady("http://\(address)/readyz", client, on: reactor)) {
      guard child.isRunning, Reactor.now - child.started < readyLimit.clampedNanoseconds else {
        try? await child.stop(on: reactor)
        throw BenchError("the service did not become ready; see \(log)")
      }
      await reactor.sleep(for: .milliseconds(1))
    }
    return RunningService(child, readyAfter: Reactor.now - child.started)
  }

  /// Current resident memory and threads.
  var memoryFigures: [String: Double] {
    guard let facts = ProcessFacts(of: child.id) else { return [:] }
    return [
      "rss_mb": Double(facts.residentKilobytes) / 1024, "rss_peak_mb": Double(facts.residentKilobytesMax) / 1024,
      "threads": Double(facts.threads),
    ]
  }

  private static func isReady(_ url: String, _ client: HTTPTransferClient, on reactor: isolated Reactor) async -> Bool {
    let request = HTTPTransferRequest(url: url, deadline: .seconds(1))
    guard let answer = try? await client.send(request, on: reactor) else { return false }
    return answer.status.code == 200
  }

  /// A free port of the loopback address.
  private static func freeAddress() throws -> String {
    guard let any = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure("a numeric host") }
    return try ListeningSocket(on: any).address.description
  }
}

/// The service's settings apart from the database: secrets of this run, and the sink.
struct ServiceCredentials: Sendable {
  private let webhookSecret = Self.secret()
  private let serviceKey = Self.secret()
  private let jwtSecret = Self.secret()
  private let privateKey = P256PrivateKey().pem
  private let sinkURL: String
  private let authorityFile: String

  /// - Parameter authorityFile: the PEM file of the sink's authority.
  init(sinkURL: String, authorityFile: String) {
    self.sinkURL = sinkURL
    self.authorityFile = authorityFile
  }

  /// The service's environment.
  func settings(database: String, listenAddress: String) -> [String: String] {
    [
      "DATABASE_URL": database, "LISTEN_ADDRESS": listenAddress, "WEBHOOK_SECRET": webhookSecret,
      "SERVICE_KEY": serviceKey, "JWT_SECRET": jwtSecret, "APNS_KEY_ID": "BENCHKEY01", "APNS_TEAM_ID": "BENCHTEAM1",
      "APNS_BUNDLE_ID": "com.example.app", "APNS_PRIVATE_KEY": privateKey, "APNS_URL": sinkURL,
      "APNS_CA_FILE": authorityFile, "LOG_LEVEL": "warning",
      // Loads count a push for each message, as `PipelineConfiguration.folding` says.
      "FOLD_WINDOW_SECONDS": "0",
    ]
  }

  /// 48 hexadecimal digits.
  private static func secret() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<48).map { _ in digits[Int.random(in: digits.indices)] })
  }
}
