import FoundationEssentials
import HTTP2
import Histogram
import Reactors

/// An APNs that accepts and records everything at once, with as little work as possible, because its processor time
/// would be missing for the measured processes. The simulator has the checks.
final class AcceptanceSink {
  private static let tokenOffset = "/3/device/".utf8.count
  private static let mark = Array(#""message_id":""#.utf8)

  /// In order since the last ``take()``.
  private var acceptances: [Acceptance] = []
  private var awaited = Int.max
  private let arrival = Signal()

  /// The acceptances since the last call.
  func take() -> [Acceptance] {
    defer { acceptances = [] }
    return acceptances
  }

  /// Waits for this many pushes since the last ``take()``. One wait at a time.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    awaited = count
    defer { awaited = .max }
    let deadline = Reactor.now + limit.clampedNanoseconds
    while acceptances.count < count {
      let now = Reactor.now
      guard now < deadline, await arrival.wait(for: .nanoseconds(deadline - now), on: reactor) else { return false }
    }
    return true
  }
}

extension AcceptanceSink: HTTP2RequestHandler {
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    record(request)
    var fields = HTTP2Fields(reservingBytes: 64)
    if let identifier = request.fields["apns-id"] { fields.append("apns-id", identifier, isIndexed: false) }
    connection.respond(to: request.streamID, status: 200, fields: fields, on: reactor)
    if acceptances.count >= awaited { arrival.signal(on: reactor) }
  }

  private func record(_ request: HTTP2ServerRequest) {
    guard let message = Self.message(in: request.body), let burst = request.fields["apns-collapse-id"],
      let burst = UUID(uuidString: burst), let identifier = request.fields["apns-id"],
      let device = DeviceKey(token: request.path.dropFirst(Self.tokenOffset))
    else { return }
    acceptances.append(
      Acceptance(message: message, burst: burst, identifier: identifier, device: device, moment: request.arrival))
  }

  /// The payload names the message that it shows.
  private static func message(in body: [UInt8]) -> UUID? {
    body.indices.first { body[$0] == mark[0] && body[$0...].starts(with: mark) }
      .flatMap { UUID(uuidString: String(decoding: body[($0 + mark.count)...].prefix(36), as: UTF8.self)) }
  }
}

/// A push that was accepted.
struct Acceptance: Sendable, Equatable {
  let message: UUID
  /// The collapse identifier: the message whose notification it goes into.
  let burst: UUID
  let identifier: String
  let device: DeviceKey
  /// When the whole request was there, in monotonic nanoseconds.
  var moment: UInt64
}

/// The first 64 bits of a device token. Tokens are random or hashes, so these identify them.
struct DeviceKey: Hashable, Sendable {
  let bits: UInt64
}

extension DeviceKey {
  /// - Parameter token: hexadecimal, at least 16 digits.
  init?(token: some StringProtocol) {
    let digits = token.prefix(16)
    guard digits.utf8.count == 16, let bits = UInt64(digits, radix: 16) else { return nil }
    self.init(bits: bits)
  }
}

/// The sink with its listener, on a separate reactor.
struct RunningSink: Sendable {
  /// The service's APNs address.
  let url: String
  /// The PEM text that the service must trust.
  let authority: String
  private let bound: ReactorBound<(sink: AcceptanceSink, listener: HTTP2Listener)>

  /// Listens on a port of the loopback address, with a new certificate.
  static func start(on reactor: Reactor) async throws -> RunningSink {
    let authority = try CertificateAuthority(name: "tacet-bench")
    let identity = try authority.issue(for: ["localhost", "127.0.0.1"])
    let context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"])
    let certificate = authority.certificate
    return try await reactor.perform { reactor in
      let sink = AcceptanceSink()
      guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { preconditionFailure() }
      let listener = try HTTP2Listener(on: address, context: context, handler: sink, reactor: reactor)
      return RunningSink(
        url: "https://\(listener.address)", authority: certificate,
        bound: ReactorBound((sink: sink, listener: listener), on: reactor))
    }
  }

  /// Accepts no more connections.
  func stop() async { await bound.perform { $0.listener.stop(on: $1) } }

  /// The acceptances since the last call.
  func take() async -> [Acceptance] { await bound.perform { bound, _ in bound.sink.take() } }

  /// Waits for this many pushes since then.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration) async -> Bool {
    await bound.perform { await $0.sink.wait(for: count, within: limit, on: $1) }
  }
}

/// The messages of a run: the load's records matched with the sink's and the ledger's.
struct RunBooks {
  /// From the commit to the acceptance of each push, in nanoseconds; 0 if accepted before the load read the commit's
  /// response.
  private(set) var accepted = LatencyHistogram()
  /// The same of pushes that update the notification of an earlier message.
  private(set) var followers = LatencyHistogram()
  /// From the commit of a message to the acceptance of the newer one that it was folded into.
  private(set) var folded = LatencyHistogram()
  /// From the insert to its response.
  private(set) var commit = LatencyHistogram()
  /// Counted messages.
  private(set) var messages = 0
  /// Counted messages for recipients of which there is neither a push nor a newer one that the ledger names.
  private(set) var lost = 0
  /// Pushes that came again in another notification or with another identifier, including the warm-up.
  private(set) var doubled = 0
  /// The same pushes again, which devices know for the same.
  private(set) var repeated = 0
  /// Pushes of our messages to devices of other users.
  private(set) var misdirected = 0
  /// The last acceptance of all; 0 without one.
  private(set) var lastAcceptance: UInt64 = 0
  /// When each message was last told, including the warm-up, and when it was committed; nil while a recipient lacks it.
  private var completions: [(committed: UInt64, told: UInt64?)] = []

  /// - Parameters:
  ///   - isCounted: whether the message of a number counts.
  ///   - recipients: the devices of each conversation's recipients, by its index.
  ///   - folded: what the ledger says was folded, for which devices.
  init(
    _ messages: [SentMessage], isCounted: (Int) -> Bool, recipients: [Set<DeviceKey>], acceptances: [Acceptance],
    folded: [UUID: Set<DeviceKey>] = [:]
  ) {
    let arrived = match(acceptances, with: messages, recipients)
    /// The next acceptance of a newer message, by conversation and device.
    var newer = recipients.map { _ in [DeviceKey: UInt64]() }
    for (number, message) in messages.enumerated().reversed() {
      let pushes = arrived[number]
      var told = pushes.mapValues(\.moment)
      for device in folded[message.id] ?? [] where told[device] == nil {
        told[device] = newer[message.conversation][device] ?? message.committed
      }
      for (device, push) in pushes { newer[message.conversation][device] = push.moment }
      let missing = recipients[message.conversation].subtracting(told.keys).count
      completions.append((message.committed, missing == 0 ? told.values.max() : nil))
      guard isCounted(number) else { continue }
      self.messages += 1
      lost += missing
      commit.record(from: message.sent, to: message.committed)
      for (device, moment) in told {
        guard let push = pushes[device] else {
          self.folded.record(from: message.committed, to: moment)
          continue
        }
        accepted.record(from: message.committed, to: moment)
        if push.burst != message.id { followers.record(from: message.committed, to: moment) }
      }
    }
  }

  /// The first acceptance of each device, by the message's number.
  private mutating func match(
    _ acceptances: [Acceptance], with messages: [SentMessage], _ recipients: [Set<DeviceKey>]
  ) -> [[DeviceKey: Acceptance]] {
    let numbers = Dictionary(zip(messages.map(\.id), messages.indices)) { first, _ in first }
    var arrived = messages.map { _ in [DeviceKey: Acceptance]() }
    // Others are leftovers of an earlier run.
    for acceptance in acceptances {
      guard let number = numbers[acceptance.message] else { continue }
      lastAcceptance = max(lastAcceptance, acceptance.moment)
      if !recipients[messages[number].conversation].contains(acceptance.device) {
        misdirected += 1
      } else if let first = arrived[number][acceptance.device] {
        let isSame = first.identifier == acceptance.identifier && first.burst == acceptance.burst
        if isSame { repeated += 1 } else { doubled += 1 }
      } else {
        arrived[number][acceptance.device] = acceptance
      }
    }
    return arrived
  }

  /// Messages that all recipients were told of in a span of time, including the warm-up.
  func completed(in span: Range<UInt64>) -> Int {
    completions.count { $0.told.map(span.contains) ?? false }
  }

  /// The longest wait after a moment for a message, in milliseconds.
  func longestWait(after moment: UInt64) -> Double {
    let waits = completions.map { ($0.told ?? 0) - min(max($0.committed, moment), $0.told ?? 0) }
    return Double(waits.max() ?? 0) / 1e6
  }

  /// The pushes and latencies of the counted messages.
  var figures: [String: Double] {
    var figures = accepted.figures("accepted", [50, 90, 99])
    figures["accepted_max_ms"] = accepted.millisecondsMax
    figures["pushes"] = Double(accepted.count)
    figures["lost"] = Double(lost)
    figures["doubled"] = Double(doubled)
    figures["repeated"] = Double(repeated)
    for (name, latencies) in [("followers", followers), ("folded", folded)] where latencies.count > 0 {
      figures[name] = Double(latencies.count)
      figures.merge(latencies.figures(name, [50, 99])) { $1 }
    }
    return figures
  }

  /// - Throws: when a message was lost, shown twice or misdirected.
  func check() throws(BenchError) {
    guard lost == 0 else { throw BenchError("\(lost) pushes of \(messages) messages were lost") }
    guard doubled == 0 else { throw BenchError("\(doubled) messages were shown twice") }
    guard misdirected == 0 else {
      throw BenchError("\(misdirected) pushes went to devices of nobody in the conversation")
    }
  }
}

/// Latencies to three digits, from 100 nanoseconds to ten minutes; longer ones count as ten minutes.
struct LatencyHistogram: Sendable {
  private static let nanosecondsMax: UInt64 = 600_000_000_000

  private var histogram = Histogram<UInt32>(
    lowestDiscernibleValue: 100, highestTrackableValue: LatencyHistogram.nanosecondsMax)

  var count: Int { Int(histogram.totalCount) }

  /// Records the time between two moments; 0 when the end is before the start.
  mutating func record(from start: UInt64, to end: UInt64) {
    record(nanoseconds: end > start ? end - start : 0)
  }

  mutating func record(nanoseconds: UInt64) {
    histogram.record(min(nanoseconds, Self.nanosecondsMax))
  }

  /// The latency at a percentile; 0 without values.
  func milliseconds(at percentile: Double) -> Double {
    count == 0 ? 0 : Double(histogram.valueAtPercentile(percentile)) / 1e6
  }

  var millisecondsMax: Double { count == 0 ? 0 : Double(histogram.max) / 1e6 }

  /// Figures named after their percentile, such as `accepted_p50_ms`.
  func figures(_ name: String, _ percentiles: [Int]) -> [String: Double] {
    Dictionary(uniqueKeysWithValues: percentiles.map { ("\(name)_p\($0)_ms", milliseconds(at: Double($0))) })
  }
}
