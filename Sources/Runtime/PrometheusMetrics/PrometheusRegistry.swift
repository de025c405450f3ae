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

  /// A histogram if it aggregates, a gauge otherwise.
  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    switch series(label, dimensions, aggregate ? .histogram : .gauge) {
    case .gauge(let cell): cell
    case .histogram(let cell): cell
    case .counter: preconditionFailure("no recorder")
    }
  }

  /// A gauge.
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    guard case .gauge(let cell) = series(label, dimensions, .gauge) else { preconditionFailure("no meter") }
    return cell
  }

  /// A histogram in seconds.
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    guard case .histogram(let cell) = series(label, dimensions, .histogram) else { preconditionFailure("no timer") }
    return cell
  }

  /// Nothing: the series stays.
  package func destroyCounter(_ handler: any CounterHandler) {}

  package func destroyMeter(_ handler: any MeterHandler) {}

  package func destroyRecorder(_ handler: any RecorderHandler) {}

  package func destroyTimer(_ handler: any TimerHandler) {}
}
