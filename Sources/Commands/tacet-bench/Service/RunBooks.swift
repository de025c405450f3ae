import FoundationEssentials
import Histogram

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
