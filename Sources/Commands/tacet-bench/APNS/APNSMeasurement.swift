import Channels
import FoundationEssentials
import Logging
import PushRules
import Reactors

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
