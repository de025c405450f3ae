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

/// One run: it makes a client, warms it up, measures it and closes it.
struct APNSMeasurement: Sendable {
  let endpoint: APNSEndpoint
  let context: TLSContext
  let tokens: ProviderTokenSource
  let series: PushSeries
  let configuration: APNSConfiguration
  let concurrency: Int
  let logger: Logger

  /// - Throws: `PushRequestError` for pushes that cannot be sent.
  func run(pushes: Int, warmUp: Int, rate: Double?, on reactor: isolated Reactor) async throws -> LoadReport {
    let client = APNSClient(
      endpoints: [.production: endpoint], context: context, tokens: tokens, configuration: configuration,
      logger: logger)
    client.warmUp(.production, on: reactor)
    let load = PushLoad(series, over: APNSRouter([series.route.app: client]), concurrency: concurrency)
    if warmUp > 0 { _ = try await load.send(0..<warmUp, on: reactor) }
    let resendsBefore = client.resends
    let usage = ProcessUsage.current
    var books = try await load.send(warmUp..<(warmUp + pushes), rate: rate, on: reactor)
    let spent = ProcessUsage.current.since(usage)
    books.resends += client.resends - resendsBefore
    client.close(on: reactor)
    return LoadReport(
      books, spent: spent, composing: try composing(pushes), bodyBytes: series.bodyBytes,
      connectionsOpened: client.connectionsOpened(to: .production))
  }

  /// Builds the same number of pushes without sending them.
  private func composing(_ pushes: Int) throws(PushRequestError) -> ProcessUsage {
    let usage = ProcessUsage.current
    for number in 0..<pushes { _ = try series.request(number) }
    return ProcessUsage.current.since(usage)
  }
}

/// The pushes of a run. Like in the service, each is built when it is sent, from a text that is escaped once.
struct PushSeries: Sendable {
  private let tokens: [String]

  let route: PushRoute
  private let alert: PreparedAlert
  private let expiration: PushExpiration

  /// The prefix of all event identifiers. It is random, so that two runs share none.
  private let run: String

  /// - Parameter tokens: device tokens that take turns; not empty.
  /// - Throws: when a token is malformed.
  init(to tokens: [String], ofApp bundle: BundleIdentifier) throws(PushRequestError) {
    for token in tokens { _ = try DeviceToken(token) }
    self.tokens = tokens
    route = PushRoute(app: bundle, environment: .production)
    run = String(UUID().uuidString.lowercased().prefix(24))
    let conversation = UUID().uuidString.lowercased()
    alert = PreparedAlert(
      try AlertPayload(
        title: "Anna", body: "Are you coming?", sound: "default",
        threadIdentifier: conversation,
        custom: [
          "type": "message", "conversation_id": .string(conversation),
          "message_id": .string(UUID().uuidString.lowercased()),
        ]))
    expiration = .until(unixSeconds: Int64(Date().timeIntervalSince1970) + 3600)
  }

  var bodyBytes: Int { alert.encoded(badge: Self.badge(0)).count }

  /// The push of this number. The number determines its identifiers.
  func request(_ number: Int) throws(PushRequestError) -> PushRequest {
    let event = run + Self.twelveDigits(number)
    let token = try DeviceToken(tokens[number % tokens.count])
    let head = try PushRequestHead(
      deviceToken: token, pushType: .alert, bundleIdentifier: route.app, priority: .immediate, expiration: expiration,
      identifier: PushIdentifier(eventKind: "message", event: event, recipient: "", deviceToken: token),
      collapseIdentifier: try CollapseIdentifier(event))
    return try PushRequest(head: head, body: alert.encoded(badge: Self.badge(number)))
  }

  /// One digit, so that all bodies have the same length.
  private static func badge(_ number: Int) -> Int { 1 + number % 9 }

  private static func twelveDigits(_ number: Int) -> String {
    String(unsafeUninitializedCapacity: 12) { digits in
      var rest = number
      for place in (0..<12).reversed() {
        digits[place] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      return 12
    }
  }
}

struct LoadReport: Encodable, Sendable {
  let pushes: Int
  let seconds: Double
  let pushesPerSecond: Double
  /// Including composing.
  let cpuMicrosecondsPerPush: Double
  /// For building a push's request, measured separately.
  let cpuMicrosecondsComposing: Double
  let latencyMillisecondsP50: Double
  let latencyMillisecondsP99: Double
  let statuses: [String: Int]
  let failures: [String: Int]
  let resends: Int
  /// Including the warm-up.
  let connectionsOpened: Int
  let lost: Int
  let bodyBytes: Int

  init(_ books: LoadBooks, spent: ProcessUsage, composing: ProcessUsage, bodyBytes: Int, connectionsOpened: Int) {
    pushes = books.latencies.count
    seconds = Double(spent.monotonic) / 1e9
    pushesPerSecond = Double(pushes) / seconds
    cpuMicrosecondsPerPush = Double(spent.processor) / 1e3 / Double(max(pushes, 1))
    cpuMicrosecondsComposing = Double(composing.processor) / 1e3 / Double(max(pushes, 1))
    let sorted = books.latencies.sorted()
    latencyMillisecondsP50 = Self.milliseconds(at: 0.5, of: sorted)
    latencyMillisecondsP99 = Self.milliseconds(at: 0.99, of: sorted)
    statuses = Dictionary(uniqueKeysWithValues: books.statuses.map { (String($0), $1) })
    failures = books.failures
    resends = books.resends
    self.connectionsOpened = connectionsOpened
    lost = books.lost
    self.bodyBytes = bodyBytes
  }

  /// The smallest value that this share of all values does not exceed; 0 without values.
  static func milliseconds(at share: Double, of sorted: [UInt64]) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = Int((Double(sorted.count) * share).rounded(.up))
    return Double(sorted[max(rank, 1) - 1]) / 1e6
  }

  /// One object in one line, keys sorted and in snake case.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// A line for each figure.
  var text: String {
    """
    pushes              \(pushes) of \(bodyBytes) bytes in \(Self.hundredths(seconds)) s
    pushes per second   \(Int(pushesPerSecond))
    processor time      \(Self.hundredths(cpuMicrosecondsPerPush)) µs per push, \
    \(Self.hundredths(cpuMicrosecondsComposing)) of them for composing it
    latency             \(Self.hundredths(latencyMillisecondsP50)) ms median, \
    \(Self.hundredths(latencyMillisecondsP99)) ms for 99 of 100
    final answers       \(Self.list(statuses))
    other attempts      \(Self.list(failures))
    resends             \(resends)
    connections opened  \(connectionsOpened)
    lost                \(lost)
    """
  }

  private static func list(_ counts: [String: Int]) -> String {
    counts.isEmpty ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }

  private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

/// The real time and processor time of this process, in nanoseconds.
struct ProcessUsage: Sendable, Equatable {
  let monotonic: UInt64
  /// Of all threads, in user space and in the kernel.
  let processor: UInt64

  static var current: ProcessUsage {
    var usage = rusage()
    let code = getrusage(RUSAGE_SELF.rawValue, &usage)
    precondition(code == 0, "getrusage fails for a wrong argument only")
    return ProcessUsage(
      monotonic: Reactor.now, processor: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))
  }

  func since(_ earlier: ProcessUsage) -> ProcessUsage {
    ProcessUsage(monotonic: monotonic - earlier.monotonic, processor: processor - earlier.processor)
  }

  private static func nanoseconds(_ time: timeval) -> UInt64 {
    UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
  }
}
