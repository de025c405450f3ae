internal import PushStore

extension BenchFigures {
  /// A function is slow from here on, at the median or at p99: a whole read of a usual message takes less than the first, and
  /// with the second one in a hundred messages is visibly late.
  static let slowMedian: Int64 = 1000
  static let slowP99: Int64 = 10_000

  /// From here on the network is most of what a message takes: two round trips of a claim and a record.
  static let slowRoundTrip: Int64 = 2000

  /// What to look at, a line each, the worst function first; empty when nothing stands out.
  public func findings(limitMicroseconds: Int64? = nil) -> [String] {
    failures.map(words) + slowCalls.map(words) + [roundTripFinding, goneFinding].compactMap { $0 }
      + [limitMicroseconds.flatMap(limitFinding)].compactMap { $0 }
  }

  private var slowCalls: [(calls: Calls, times: Distribution)] {
    calls.compactMap { calls in calls.times.map { (calls, $0) } }
      .filter { $0.1.p50 >= Self.slowMedian || $0.1.p99 >= Self.slowP99 }
      .sorted { $0.1.p99 > $1.1.p99 }
  }

  private func words(_ failure: Failure) -> String {
    let times = failure.count == 1 ? "" : ", \(failure.count) times"
    return "\(failure.what) \(failure.cause)\(times): \(failure.example)"
  }

  private func words(_ slow: (calls: Calls, times: Distribution)) -> String {
    let missing = slow.calls.function.hostIndexes.filter(missingIndexes.contains)
    let why =
      missing.isEmpty ? "" : " The index \(missing.joined(separator: ", ")) is missing or invalid: see tacet doctor."
    let look = slow.calls.worst.map { " Look at its slowest call: \($0)" } ?? ""
    return """
      tacet.\(slow.calls.function.rawValue) is slow: \(BenchWords.time(slow.times.p50)) at the median, \
      \(BenchWords.time(slow.times.p99)) at p99.\(why)\(look)
      """
  }

  private var roundTripFinding: String? {
    guard let roundTrip, roundTrip.p50 >= Self.slowRoundTrip else { return nil }
    return """
      The network or a pooler is slow: \(BenchWords.time(roundTrip.p50)) for a round trip, and a push takes at least two. \
      Run Tacet nearer to the database.
      """
  }

  private var goneFinding: String? {
    guard gone * 2 > measured else { return nil }
    return "tacet.message_context knows nothing of \(gone) of \(measured) messages: deleted, or hidden from this role?"
  }

  private func limitFinding(_ limit: Int64) -> String? {
    guard let alone, alone.p99 > limit else { return nil }
    return "The read of a message takes \(BenchWords.time(alone.p99)) at p99, longer than \(BenchWords.time(limit))."
  }
}

/// Times as people read them.
enum BenchWords {
  /// `12 µs`, `3.4 ms`, `14 ms`, `1.2 s`; two digits or more, cut off behind them.
  static func time(_ microseconds: Int64) -> String {
    switch microseconds {
    case ..<1000: "\(microseconds) µs"
    case ..<10_000: "\(tenths(microseconds / 100)) ms"
    case ..<1_000_000: "\(microseconds / 1000) ms"
    default: "\(tenths(microseconds / 100_000)) s"
    }
  }

  private static func tenths(_ value: Int64) -> String { "\(value / 10).\(value % 10)" }

  /// One decimal, of a number that is not negative and below a million.
  static func decimal(_ value: Double) -> String {
    tenths(Int64((min(value, 999_999) * 10).rounded()))
  }
}
