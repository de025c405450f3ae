import FoundationEssentials
import HTTP2
import Histogram
import Reactors

/// An APNs that accepts and records everything at once, with as little work as possible, because its processor time
/// would be missing for the measured processes. The simulator has the checks.
final class AcceptanceSink {
  private static let tokenOffset = "/3/device/".utf8.count

  /// In order since the last ``take()``.
  private var acceptances: [Acceptance] = []
  /// Other requests since the last ``take()``.
  private(set) var others = 0
  private var awaited = Int.max
  private let arrival = Signal()

  /// Accepted since the last ``take()``.
  var count: Int { acceptances.count }

  /// The acceptances since the last call.
  func take() -> [Acceptance] {
    defer {
      acceptances = []
      others = 0
    }
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
    guard let text = request.fields["apns-collapse-id"], let message = UUID(uuidString: text),
      let device = DeviceKey(token: request.path.dropFirst(Self.tokenOffset))
    else {
      others += 1
      return
    }
    acceptances.append(Acceptance(message: message, device: device, moment: request.arrival))
  }
}

struct Acceptance: Sendable, Equatable {
  /// The collapse identifier, which is the message's id.
  let message: UUID
  let device: DeviceKey
  /// When the whole request was there, in monotonic nanoseconds.
  let moment: UInt64
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

  func clear() async { await bound.perform { bound, _ in _ = bound.sink.take() } }

  /// The acceptances since the last ``take()`` or ``clear()``.
  func take() async -> [Acceptance] { await bound.perform { bound, _ in bound.sink.take() } }

  /// Waits for this many pushes since then.
  /// - Returns: false when the limit passed first.
  func wait(for count: Int, within limit: Duration) async -> Bool {
    await bound.perform { await $0.sink.wait(for: count, within: limit, on: $1) }
  }
}

/// The messages of a run: the load's records matched with the sink's.
struct RunBooks {
  /// From the commit to the acceptance of each push, in nanoseconds; 0 if accepted before the load read the commit's
  /// response.
  private(set) var accepted = LatencyHistogram()
  /// The same from the time when the message was due.
  private(set) var arrival = LatencyHistogram()
  /// From the insert to its response.
  private(set) var commit = LatencyHistogram()
  /// From the commit to the first of a message's acceptances.
  private(set) var first = LatencyHistogram()
  /// From the commit to the last of a message's acceptances.
  private(set) var complete = LatencyHistogram()
  /// Pushes of counted messages, each once.
  private(set) var pushes = 0
  /// Missing pushes of counted messages.
  private(set) var lost = 0
  /// Repeated pushes, including the warm-up.
  private(set) var doubled = 0
  /// Pushes of our messages to devices of other users.
  private(set) var misdirected = 0
  /// Pushes of other messages, such as leftovers of an earlier run.
  private(set) var foreign = 0
  /// The last acceptance of all; 0 without one.
  private(set) var lastAcceptance: UInt64 = 0
  /// The last acceptance of each message, including the warm-up; nil while one is missing.
  private var completions: [UInt64?] = []

  /// - Parameters:
  ///   - isCounted: whether the message of a number counts.
  ///   - recipients: the devices of each conversation's recipients, by its index.
  init(
    _ messages: [SentMessage], isCounted: (Int) -> Bool, recipients: [Set<DeviceKey>], acceptances: [Acceptance]
  ) {
    let arrived = match(acceptances, with: messages, recipients)
    for (number, message) in messages.enumerated() {
      let devices = recipients[message.conversation]
      completions.append(arrived[number].count == devices.count ? arrived[number].values.max() : nil)
      if isCounted(number) { count(message, arrived[number], of: devices.count) }
    }
  }

  /// The first acceptance of each device, by the message's number.
  private mutating func match(
    _ acceptances: [Acceptance], with messages: [SentMessage], _ recipients: [Set<DeviceKey>]
  ) -> [[DeviceKey: UInt64]] {
    let numbers = Dictionary(zip(messages.map(\.id), messages.indices)) { first, _ in first }
    var arrived = Array(repeating: [DeviceKey: UInt64](), count: messages.count)
    for acceptance in acceptances {
      guard let number = numbers[acceptance.message] else {
        foreign += 1
        continue
      }
      lastAcceptance = max(lastAcceptance, acceptance.moment)
      if !recipients[messages[number].conversation].contains(acceptance.device) {
        misdirected += 1
      } else if arrived[number][acceptance.device] != nil {
        doubled += 1
      } else {
        arrived[number][acceptance.device] = acceptance.moment
      }
    }
    return arrived
  }

  private mutating func count(_ message: SentMessage, _ arrived: [DeviceKey: UInt64], of expected: Int) {
    pushes += arrived.count
    lost += expected - arrived.count
    commit.record(from: message.sent, to: message.committed)
    for moment in arrived.values {
      accepted.record(from: message.committed, to: moment)
      arrival.record(from: message.intended, to: moment)
    }
    if let moment = arrived.values.min() { first.record(from: message.committed, to: moment) }
    if let moment = arrived.values.max() { complete.record(from: message.committed, to: moment) }
  }

  /// Messages whose last push was accepted in a span of time, including the warm-up.
  func completed(in span: Range<UInt64>) -> Int {
    completions.count { $0.map(span.contains) ?? false }
  }

  /// - Throws: when a push was lost or misdirected.
  func check() throws(BenchError) {
    guard lost == 0 else { throw BenchError("\(lost) of \(pushes + lost) pushes were lost") }
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
