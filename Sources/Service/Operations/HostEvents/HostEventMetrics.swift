package import CoreMetrics
internal import PushStore

/// Counts attempts at events in `tacet_host_events_total`, by `type` and by `outcome`: `taken`, `waiting` for one that is tried again,
/// `dead`, or `lost` to another process.
package final class HostEventMetrics {
  private let factory: any MetricsFactory

  /// The events that `tacet.announce` knows.
  private static let types = ["push.unread", "push.sent", "push.skipped", "push.failed", "device.dropped"]

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
    // A rate needs the zero before the first one.
    for type in Self.types { counter(of: type, HostEventState.taken.rawValue).increment(by: 0) }
  }

  func count(_ event: HostEvent, _ state: HostEventState?) {
    counter(of: event.type, state?.rawValue ?? "lost").increment()
  }

  private func counter(of type: String, _ outcome: String) -> Counter {
    Counter(label: "tacet_host_events_total", dimensions: [("type", type), ("outcome", outcome)], factory: factory)
  }
}
