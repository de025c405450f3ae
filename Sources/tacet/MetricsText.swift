import APNSCore
import HTTPServing
import Reactors

/// What one reactor has done so far.
struct ReactorFigures: Sendable {
  let reactor: String
  let ticks: Int
  let jobsFromOtherThreads: Int
  let wakeUps: Int
  let databaseRoundTrips: Int
  let databaseReconnects: Int
  let apnsConnectionsOpened: Int
  let routes: [RouteState]
  let outcomes: [String: Int]
}

/// The figures of all reactors in the text format of Prometheus.
enum MetricsText {
  static func make(_ workers: PerReactor<ReactorWorker>, _ meter: HTTPServiceMeter) async -> String {
    var figures: [ReactorFigures] = []
    for worker in workers.all { figures.append(await worker.perform { $0.figures(on: $1) }) }
    return text(of: figures) + text(of: await meter.read())
  }

  static func text(of figures: [ReactorFigures]) -> String {
    counter("tacet_reactor_ticks_total", "Turns of the event loop.", figures, \.ticks)
      + counter(
        "tacet_reactor_jobs_from_other_threads_total", "Jobs that came from another thread.", figures,
        \.jobsFromOtherThreads)
      + counter("tacet_reactor_wake_ups_total", "Times another thread ended a sleep.", figures, \.wakeUps)
      + counter("tacet_database_round_trips_total", "Statements answered.", figures, \.databaseRoundTrips)
      + counter("tacet_database_reconnects_total", "Sessions opened again.", figures, \.databaseReconnects)
      + counter("tacet_apns_connections_opened_total", "Connections to APNs.", figures, \.apnsConnectionsOpened)
      + gauge("tacet_apns_route_open", "1 when pushes go, 0 when they wait in the database.", figures) {
        $0.fault == nil
      }
      + gauge("tacet_apns_route_connected", "1 when a connection is open.", figures, \.isConnected)
      + outcomes(figures)
  }

  private static func counter(
    _ name: String, _ help: String, _ figures: [ReactorFigures], _ value: KeyPath<ReactorFigures, Int>
  ) -> String {
    let lines = figures.map { "\(name){reactor=\"\($0.reactor)\"} \($0[keyPath: value])\n" }
    return head(name, help) + lines.joined()
  }

  /// A line for each reactor and route: at most two for each configured app.
  private static func gauge(
    _ name: String, _ help: String, _ figures: [ReactorFigures], _ isSo: (RouteState) -> Bool
  ) -> String {
    let lines = figures.flatMap { figures in
      figures.routes.map { state in
        let labels = """
          reactor="\(figures.reactor)",app="\(state.route.app.text)",environment="\(state.route.environment.rawValue)"
          """
        return "\(name){\(labels)} \(isSo(state) ? 1 : 0)\n"
      }
    }
    return head(name, help, type: "gauge") + lines.joined()
  }

  private static func outcomes(_ figures: [ReactorFigures]) -> String {
    let totals = figures.reduce(into: [:]) { $0.merge($1.outcomes, uniquingKeysWith: +) }
    let lines = totals.sorted { $0.key < $1.key }.map { "tacet_outcomes_total{decision=\"\($0.key)\"} \($0.value)\n" }
    return head("tacet_outcomes_total", "Recorded outcomes of recipients.") + lines.joined()
  }

  static func head(_ name: String, _ help: String, type: String = "counter") -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }
}
