internal import CoreMetrics
internal import Synchronization

// What the handles of swift-metrics count in. Any thread may count at any time, without a lock. The order in
// which others see two counts does not matter, so every access is relaxed.

final class CounterCell: CounterHandler {
  private let sum = Atomic<Int64>(0)

  var value: Int64 { sum.load(ordering: .relaxed) }

  /// A counter does not fall: what is negative is not counted.
  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    sum.wrappingAdd(amount, ordering: .relaxed)
  }

  func reset() { sum.store(0, ordering: .relaxed) }
}

final class GaugeCell: RecorderHandler, MeterHandler {
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  func set(_ value: Int64) { record(Double(value)) }

  func set(_ value: Double) { record(value) }

  func increment(by amount: Double) { bits.add(amount) }

  func decrement(by amount: Double) { bits.add(-amount) }
}

/// Counts observations by the least bound that they do not exceed.
final class HistogramCell: RecorderHandler, TimerHandler {
  /// An atomic in a separate object, because an array cannot hold one that may not be copied.
  private final class Count: Sendable {
    let value = Atomic<UInt64>(0)
  }

  private let bounds: [Double]
  private let counts: [Count]
  private let sum = Atomic<UInt64>(0)

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = (0...bounds.count).map { _ in Count() }
  }

  /// Their number is the sum of the buckets, so that it fits them whenever it is read.
  var figures: HistogramFigures {
    HistogramFigures(
      bounds: bounds, counts: counts.map { $0.value.load(ordering: .relaxed) },
      sum: Double(bitPattern: sum.load(ordering: .relaxed)))
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  /// What is no number falls into no bucket and is not counted.
  func record(_ value: Double) {
    guard !value.isNaN else { return }
    counts[bucket(of: value)].value.wrappingAdd(1, ordering: .relaxed)
    sum.add(value)
  }

  private func bucket(of value: Double) -> Int {
    var (low, high) = (0, bounds.count)
    while low < high {
      let middle = (low + high) / 2
      if value <= bounds[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Atomic<UInt64> {
  /// Adds to the number whose bits these are; tried again while others change it.
  fileprivate func add(_ amount: Double) {
    var old = load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (isDone, current) = weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if isDone { return }
      old = current
    }
  }
}
