internal import Reactors
internal import Synchronization

/// Reads the figures of a service; made before it, so that one of its own routes can show them. May be used from any task.
public final class HTTPServiceMeter: Sendable {
  private let registries = Mutex<[ReactorBound<ConnectionRegistry>]>([])

  /// Makes the meter of a service that has not started.
  public init() {}

  /// The figures over all reactors; each reactor's are of one moment.
  public func read() async -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    for registry in registries.withLock({ $0 }) {
      figures += await registry.perform { registry, _ in registry.figures }
    }
    return figures
  }

  func add(_ registry: ReactorBound<ConnectionRegistry>) { registries.withLock { $0.append(registry) } }
}
