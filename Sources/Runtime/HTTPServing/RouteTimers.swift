internal import CoreMetrics
internal import HTTPTypes

/// How long the requests of each route take: from their head to their answer, the wait for their content included.
struct RouteTimers: Sendable {
  private let timers: [CoreMetrics.Timer]

  /// - Parameter operations: in the order of their routes' numbers.
  init(_ operations: [HTTPOperation], _ factory: any MetricsFactory) {
    timers = operations.map { operation in
      Timer(
        label: "tacet_http_request_duration_seconds",
        dimensions: [("method", operation.method.rawValue), ("route", operation.pattern)], factory: factory)
    }
  }

  /// A request of this route took so long.
  func note(nanoseconds: UInt64, of route: Int) {
    timers[route].recordNanoseconds(Int64(clamping: nanoseconds))
  }
}
