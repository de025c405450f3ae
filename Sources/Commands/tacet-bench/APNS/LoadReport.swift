import FoundationEssentials
import Glibc
import Reactors

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
