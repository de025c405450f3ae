import Pages
import Reactors

extension PerReactor<ReactorWorker> {
  /// What every reactor knows of its routes to APNs.
  func routeConditions() async -> [RouteCondition] {
    var conditions: [RouteCondition] = []
    for worker in all { conditions += await worker.perform { $0.figures(on: $1) }.routes.map(\.condition) }
    return conditions
  }
}
