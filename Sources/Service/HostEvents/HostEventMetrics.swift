public import CoreMetrics
internal import PushStore

/// Counts attempts at events in `tacet_host_events_total`, by `type` and by `outcome`: `taken`, `waiting` for one that is tried again,
/// `dead`, or `lost` to another process.
public final class HostEventMetrics {
  private let factory: any MetricsFactory

  /// - Parameter factory: the destination of the figures; by default none.
  public init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
  }

  func count(_ event: HostEvent, _ state: HostEventState?) {
    let dimensions = [("type", event.type), ("outcome", state?.rawValue ?? "lost")]
    Counter(label: "tacet_host_events_total", dimensions: dimensions, factory: factory).increment()
  }
}
