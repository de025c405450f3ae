package import CoreMetrics
internal import Synchronization

/// A backend of swift-metrics that Prometheus scrapes: keeps every series, and shows them when it is asked.
///
/// Making a handle takes a lock and is for the start; counting with it does not. Handles of the same name and labels
/// count together, on any thread. A series that was made stays, because one that vanished and came back would look
/// like a restart. A family has a bounded number of series, so that no label can exhaust the memory:
/// see ``MetricDescription/seriesMax``.
///
/// Counters of swift-metrics are counters, gauges and meters are gauges, timers are histograms in seconds, and recorders that
/// aggregate are histograms in the unit of what they are given.
package final class PrometheusRegistry: Sendable {
  private struct Family {
    let description: MetricDescription
    var series: [MetricLabels: Series] = [:]
  }

  private enum Series {
    case counter(CounterCell)
    case gauge(GaugeCell)
    case histogram(HistogramCell)

    var value: MetricFamily.Value {
      switch self {
      case .counter(let cell): .integer(cell.value)
      case .gauge(let cell): .number(cell.value)
      case .histogram(let cell): .histogram(cell.figures)
      }
    }
  }

  private let families: Mutex<[String: Family]>

  /// Makes a registry that knows these families; others get no help, and the usual buckets.
  package init(_ descriptions: [MetricDescription] = []) {
    let known = descriptions.map { ($0.name, Family(description: $0)) }
    families = Mutex(Dictionary(uniqueKeysWithValues: known))
  }

  /// Every family with its series, those that were described and never made among them; in any order.
  package func collect() -> [MetricFamily] {
    families.withLock { families in
      families.values.map { family in
        var shown = MetricFamily(family.description.name, family.description.help, family.description.kind)
        for (labels, series) in family.series { shown.add(series.value, labels) }
        return shown
      }
    }
  }

  private func series(_ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind) -> Series {
    let name = MetricName.family(label)
    return families.withLock { families in
      var family = families[name] ?? Family(description: MetricDescription(name, "", kind))
      precondition(
        family.description.kind == kind, "\(name) is a \(family.description.kind) and cannot be a \(kind) as well")
      defer { families[name] = family }
      var labels = MetricLabels(dimensions)
      if family.series[labels] == nil, family.series.count >= family.description.seriesMax { labels = labels.overflow }
      if let known = family.series[labels] { return known }
      let made = Self.make(kind, bounds: family.description.bounds)
      family.series[labels] = made
      return made
    }
  }

  private static func make(_ kind: MetricFamily.Kind, bounds: [Double]) -> Series {
    switch kind {
    case .counter: .counter(CounterCell())
    case .gauge: .gauge(GaugeCell())
    case .histogram: .histogram(HistogramCell(bounds: bounds))
    }
  }
}

extension PrometheusRegistry: MetricsFactory {
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    guard case .counter(let cell) = series(label, dimensions, .counter) else { preconditionFailure("no counter") }
    return cell
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    switch series(label, dimensions, aggregate ? .histogram : .gauge) {
    case .gauge(let cell): cell
    case .histogram(let cell): cell
    case .counter: preconditionFailure("no recorder")
    }
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    guard case .gauge(let cell) = series(label, dimensions, .gauge) else { preconditionFailure("no meter") }
    return cell
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    guard case .histogram(let cell) = series(label, dimensions, .histogram) else { preconditionFailure("no timer") }
    return cell
  }

  // Nothing is destroyed: a series stays.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}

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
