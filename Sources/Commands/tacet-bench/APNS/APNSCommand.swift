import ArgumentParser
import Channels
import Cryptography
import FoundationEssentials
import Logging
import PushRules
import Reactors

/// `tacet-bench apns`: the cost and throughput of the service's APNs client.
struct APNSCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns",
    abstract: "Sends pushes through the service's APNs client, from one reactor.",
    discussion: """
      Prints pushes per second, processor time per push, latencies, and what
      became of the pushes. A push without a final answer is sent again with
      the same identifiers, as the service does; one that has none after eight
      attempts is lost. Fails when a push was lost.
      """)

  @Option(help: "The server, https://HOST:PORT.")
  var url: ServerAddress

  @Option(help: "A PEM file with the authority of the server's certificate.")
  var caFile: String?

  @Option(help: "Pushes to send.")
  var pushes = 100_000

  @Option(help: "Pushes in flight at once.")
  var concurrency = 100

  @Option(help: "Connections at once, at the most.")
  var connections = APNSConfiguration().connectionsMax

  @Option(help: "Pushes per second at the most; as many as go through when left out.")
  var rate: Double?

  @Option(help: "Pushes sent before, which do not count.")
  var warmUp = 0

  @OptionGroup(title: "What is sent")
  var content: PushOptions

  @Flag(help: "One line of JSON instead of text.")
  var json = false

  @Option(help: "trace, debug, info, notice, warning, error or critical; to standard error.", transform: Self.level)
  var logLevel = Logger.Level.critical

  func validate() throws {
    guard pushes > 0, concurrency > 0, connections > 0, warmUp >= 0 else {
      throw ValidationError("--pushes, --concurrency and --connections are numbers from 1, --warm-up from 0")
    }
    guard rate.map({ $0 > 0 }) != false else { throw ValidationError("--rate is above 0") }
  }

  func run() async throws {
    let report = try await measure()
    print(json ? try report.json() : report.text)
    if report.lost > 0 { throw ExitCode.failure }
  }

  private func measure() async throws -> LoadReport {
    let tokens = try ProviderTokenSource(content.credentials())
    let series = try content.series()
    var configuration = APNSConfiguration()
    configuration.connectionsMax = connections
    let measurement = try APNSMeasurement(
      endpoint: url.endpoint, context: APNSClient.makeContext(certificatesFile: caFile), tokens: tokens, series: series,
      configuration: configuration, concurrency: concurrency, logger: logger())
    let (pushes, warmUp, rate) = (pushes, warmUp, rate)
    return try await ReactorGroup.perform { reactor in
      try await measurement.run(pushes: pushes, warmUp: warmUp, rate: rate, on: reactor)
    }
  }

  private func logger() -> Logger {
    Logger(label: "tacet-bench") { [logLevel] label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = logLevel
      return handler
    }
  }

  private static func level(named name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level") }
    return level
  }
}

/// The content and credentials of the pushes.
struct PushOptions: ParsableArguments {
  /// The number of random devices without a file.
  private static let devices = 64

  @Option(help: "The app's bundle identifier.")
  var bundle = "com.example.app"

  @Option(help: "A file with one device token per line, which take turns; random ones when left out.")
  var deviceTokens: String?

  @Option(help: "A .p8 file that signs the provider token; a key of its own when left out.")
  var key: String?

  @Option(help: "The key's identifier.")
  var keyID = "BENCHKEY01"

  @Option(help: "The team's identifier.")
  var teamID = "BENCHTEAM1"

  func credentials() throws -> ProviderCredentials {
    try ProviderCredentials(
      keyIdentifier: keyID, teamIdentifier: teamID,
      privateKey: key.map { try Self.text(of: $0) } ?? P256PrivateKey().pem)
  }

  func series() throws -> PushSeries {
    let tokens = try deviceTokens.map { try Self.lines(of: $0) } ?? (0..<Self.devices).map { _ in Self.randomToken() }
    guard !tokens.isEmpty else { throw ValidationError("--device-tokens names an empty file") }
    return try PushSeries(to: tokens, ofApp: BundleIdentifier(bundle))
  }

  private static func lines(of path: String) throws -> [String] {
    try text(of: path).split(whereSeparator: \.isNewline).map(String.init)
  }

  private static func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  /// 64 digits, the usual length.
  private static func randomToken() -> String {
    (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
  }
}

/// `https://HOST:PORT`. The default port is 443.
struct ServerAddress: ExpressibleByArgument, Equatable {
  let endpoint: APNSEndpoint

  init?(argument: String) {
    guard let url = URL(string: argument), url.scheme == "https", let host = url.host(), !host.isEmpty,
      ["", "/"].contains(url.path()), url.query() == nil, let port = UInt16(exactly: url.port ?? 443), port > 0
    else { return nil }
    endpoint = APNSEndpoint(host: host, port: port)
  }
}
