import ArgumentParser
import Channels
import Cryptography
import FoundationEssentials
import Glibc
import Logging
import PushRules
import Reactors

/// `tacet-bench apns`: the cost and throughput of the service's APNs client.
struct APNSCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns",
    abstract: "Sends pushes through the service's APNs client, from one reactor.",
    discussion: """
      Prints a line of JSON: pushes per second, processor time per push,
      latencies, and what became of the pushes. Fails when one had no answer.
      """)

  @Option(help: "The server, https://HOST:PORT.")
  var url: ServerAddress

  @Option(help: "A PEM file with the authority of the server's certificate.")
  var caFile: String?

  @Option(help: "A file with one device token per line, which take turns; random ones when left out.")
  var deviceTokens: String?

  @Option(help: "Pushes to send.")
  var pushes = 100_000

  @Option(help: "Pushes in flight at once.")
  var concurrency = 100

  @Option(help: "Connections at once, at the most.")
  var connections = APNSConfiguration().connectionsMax

  @Option(help: "Pushes sent before, which do not count.")
  var warmUp = 0

  func validate() throws {
    guard pushes > 0, concurrency > 0, connections > 0, warmUp >= 0 else {
      throw ValidationError("--pushes, --concurrency and --connections are numbers from 1, --warm-up from 0")
    }
  }

  func run() async throws {
    let credentials = try ProviderCredentials(
      keyIdentifier: "BENCHKEY01", teamIdentifier: "BENCHTEAM1",
      privateKey: P256PrivateKey().pem)
    let measurement = try APNSMeasurement(
      endpoint: url.endpoint, context: APNSClient.makeContext(certificatesFile: caFile),
      tokens: ProviderTokenSource(credentials), series: PushSeries(to: tokens()), connections: connections,
      concurrency: concurrency)
    let (pushes, warmUp) = (pushes, warmUp)
    let report = try await ReactorGroup.perform { reactor in
      try await measurement.run(pushes: pushes, warmUp: warmUp, on: reactor)
    }
    print(try report.json())
    if report.lost > 0 { throw ExitCode.failure }
  }

  /// Random ones have 64 digits, the usual length.
  private func tokens() throws -> [String] {
    guard let deviceTokens else {
      return (0..<64).map { _ in (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined() }
    }
    let tokens = try String(contentsOfFile: deviceTokens, encoding: .utf8).split(whereSeparator: \.isNewline)
    guard !tokens.isEmpty else { throw ValidationError("--device-tokens names an empty file") }
    return tokens.map(String.init)
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

/// One run: it makes a client, warms it up, measures it and closes it.
struct APNSMeasurement: Sendable {
  let endpoint: APNSEndpoint
  let context: TLSContext
  let tokens: ProviderTokenSource
  let series: PushSeries
  var connections = APNSConfiguration().connectionsMax
  let concurrency: Int

  /// - Throws: `PushRequestError` for pushes that cannot be sent.
  func run(pushes: Int, warmUp: Int, on reactor: isolated Reactor) async throws -> LoadReport {
    var configuration = APNSConfiguration()
    configuration.connectionsMax = connections
    var logger = Logger(label: "tacet-bench")
    logger.logLevel = .critical
    let client = APNSClient(
      endpoints: [.production: endpoint], context: context, tokens: tokens, configuration: configuration,
      logger: logger)
    client.warmUp(.production, on: reactor)
    let load = PushLoad(series, over: APNSRouter([series.route.app: client]), concurrency: concurrency)
    if warmUp > 0 { _ = try await load.send(0..<warmUp, on: reactor) }
    let (start, processorBefore) = (Reactor.now, Self.processorTime)
    let books = try await load.send(warmUp..<(warmUp + pushes), on: reactor)
    let (end, processor) = (Reactor.now, Self.processorTime - processorBefore)
    client.close(on: reactor)
    return LoadReport(
      books, nanoseconds: end - start, processor: processor, composing: try composing(pushes),
      bodyBytes: series.bodyBytes)
  }

  /// Builds the same number of pushes without sending them.
  /// - Returns: the processor time.
  private func composing(_ pushes: Int) throws(PushRequestError) -> UInt64 {
    let before = Self.processorTime
    for number in 0..<pushes { _ = try series.request(number) }
    return Self.processorTime - before
  }

  private static var processorTime: UInt64 { ProcessorTime.nanoseconds(of: getpid()) ?? 0 }
}

/// The pushes of a run. Like in the service, each is built when it is sent, from a text that is escaped once.
struct PushSeries: Sendable {
  private let tokens: [String]

  let route: PushRoute
  private let alert: AlertPayload
  private let expiresAt: Int64

  /// The prefix of all event identifiers. It is random, so that two runs share none.
  private let run: String

  /// - Parameter tokens: device tokens that take turns; not empty.
  /// - Throws: when a token is malformed.
  init(to tokens: [String]) throws(PushRequestError) {
    for token in tokens { _ = try DeviceToken(token) }
    self.tokens = tokens
    route = PushRoute(app: try BundleIdentifier("com.example.app"), environment: .production)
    run = String(UUID().uuidString.lowercased().prefix(24))
    let conversation = UUID().uuidString.lowercased()
    alert = try AlertPayload(
      title: "Anna", body: "Are you coming?", sound: "default", threadIdentifier: conversation,
      custom: [
        "type": "message", "conversation_id": .string(conversation),
        "message_id": .string(UUID().uuidString.lowercased()),
      ])
    expiresAt = Int64(Date().timeIntervalSince1970) + 3600
  }

  var bodyBytes: Int { body(0).count }

  /// The push of this number. The number determines its identifiers.
  func request(_ number: Int) throws(PushRequestError) -> APNSRequest {
    let event = run + Self.twelveDigits(number)
    let token = try DeviceToken(tokens[number % tokens.count])
    return try APNSRequest(
      .alert, body(number), to: token, of: route.app, expiresAt: expiresAt,
      identifier: PushIdentifier(eventKind: "message", event: event, recipient: "", deviceToken: token),
      collapseIdentifier: try CollapseIdentifier(event))
  }

  /// The run's prefix and the number have the form of a UUID's text.
  private func body(_ number: Int) -> [UInt8] {
    alert.encoded(badge: Self.badge(number), logID: run + Self.twelveDigits(number))
  }

  /// One digit, so that all bodies have the same length.
  private static func badge(_ number: Int) -> Int { 1 + number % 9 }

  private static func twelveDigits(_ number: Int) -> Substring { String(1_000_000_000_000 + number).dropFirst() }
}

/// The figures of a run.
struct LoadReport: Encodable, Sendable {
  let pushes: Int
  let pushesPerSecond: Double
  /// Including composing.
  let cpuMicrosecondsPerPush: Double
  /// For building a push's request, measured separately.
  let cpuMicrosecondsComposing: Double
  let latencyMillisecondsP50: Double
  let latencyMillisecondsP99: Double
  let statuses: [String: Int]
  let failures: [String: Int]
  let lost: Int
  let bodyBytes: Int

  /// - Parameter nanoseconds: the length of the run; `processor` and `composing` are processor time.
  init(_ books: LoadBooks, nanoseconds: UInt64, processor: UInt64, composing: UInt64, bodyBytes: Int) {
    pushes = books.latencies.count
    pushesPerSecond = Double(pushes) * 1e9 / Double(nanoseconds)
    cpuMicrosecondsPerPush = Double(processor) / 1e3 / Double(max(pushes, 1))
    cpuMicrosecondsComposing = Double(composing) / 1e3 / Double(max(pushes, 1))
    latencyMillisecondsP50 = books.latencies.milliseconds(at: 50)
    latencyMillisecondsP99 = books.latencies.milliseconds(at: 99)
    statuses = Dictionary(uniqueKeysWithValues: books.statuses.map { (String($0), $1) })
    failures = books.failures
    lost = books.lost
    self.bodyBytes = bodyBytes
  }

  /// One object in one line, keys sorted and in snake case.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
