import Postgres
import PrometheusMetrics
import PushPipeline
import PushRules

/// What one reactor has done so far, and what it does now.
struct ReactorFigures: Sendable {
  let reactor: String
  let ticks: Int
  let jobsFromOtherThreads: Int
  let wakeUps: Int
  let database: PostgresPool.Counters
  let sessions: PostgresPool.Usage
  /// How long claims have not worked.
  let claimAge: Duration
  let apnsConnectionsOpened: Int
  let apns: [APNSEnvironment: APNSFigures]
  let routes: [RouteState]
  let others: [OtherRouteState]
}

/// How one reactor fares with the pushes of a route of another channel than APNs.
struct OtherRouteState: Sendable {
  let name: String
  /// Why pushes wait in the database, or would; nil when they go.
  let fault: String?
  /// Whether pushes wait for it.
  let isNeeded: Bool
}

/// A reactor's connections to one environment of APNs, over all clients.
struct APNSFigures: Sendable {
  var connections = 0
  var pushesInFlight = 0
  var pushesWaiting = 0
}

extension ReactorFigures {
  static func families(of figures: [ReactorFigures]) -> [MetricFamily] {
    [
      counter("tacet_reactor_ticks_total", "Turns of the event loop.", figures, \.ticks),
      counter(
        "tacet_reactor_jobs_from_other_threads_total", "Jobs that came from another thread.", figures,
        \.jobsFromOtherThreads),
      counter("tacet_reactor_wake_ups_total", "Times another thread ended a sleep.", figures, \.wakeUps),
      counter("tacet_database_round_trips_total", "Statements answered.", figures, \.database.roundTrips),
      counter("tacet_database_reconnects_total", "Sessions opened again.", figures, \.database.reconnects),
      counter("tacet_apns_connections_opened_total", "Connections to APNs.", figures, \.apnsConnectionsOpened),
      sessions(figures),
      claimAges(figures),
      MetricFamily(
        "tacet_database_waiting", "Callers that wait for a session.", .gauge,
        .integer(figures.sum(\.sessions.waiting))),
    ] + apns(figures) + routes(figures) + otherRoutes(figures)
  }

  private static func counter(
    _ name: String, _ help: String, _ figures: [ReactorFigures], _ value: KeyPath<ReactorFigures, Int>
  ) -> MetricFamily {
    var family = MetricFamily(name, help, .counter)
    for figure in figures { family.add(.integer(Int64(figure[keyPath: value])), ["reactor": figure.reactor]) }
    return family
  }

  private static func sessions(_ figures: [ReactorFigures]) -> MetricFamily {
    var family = MetricFamily("tacet_database_sessions", "Sessions with the database, by what they do.", .gauge)
    family.add(.integer(figures.sum(\.sessions.idle)), ["state": "idle"])
    family.add(.integer(figures.sum(\.sessions.inUse)), ["state": "in_use"])
    family.add(.integer(figures.sum(\.sessions.closed)), ["state": "closed"])
    return family
  }

  private static func claimAges(_ figures: [ReactorFigures]) -> MetricFamily {
    var family = MetricFamily(
      "tacet_claim_age_seconds",
      "Since claims last worked: up to about a second, more while the database refuses them.",
      .gauge)
    for figure in figures { family.add(.number(figure.claimAge / .seconds(1)), ["reactor": figure.reactor]) }
    return family
  }

  private static func otherRoutes(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ isSo: (OtherRouteState) -> Bool) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for figure in figures {
        for state in figure.others {
          family.add(.integer(isSo(state) ? 1 : 0), ["route": state.name, "reactor": figure.reactor])
        }
      }
      return family
    }
    return [
      gauge("tacet_push_route_open", "1 when pushes to browsers or Android go, 0 when they wait.") { $0.fault == nil },
      gauge("tacet_push_route_needed", "1 when pushes wait for the route.", \.isNeeded),
    ]
  }

  private static func apns(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ value: KeyPath<APNSFigures, Int>) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for environment in APNSEnvironment.allCases {
        let sum = figures.reduce(0) { $0 + ($1.apns[environment]?[keyPath: value] ?? 0) }
        family.add(.integer(Int64(sum)), ["environment": environment.rawValue])
      }
      return family
    }
    return [
      gauge("tacet_apns_connections", "Connections to APNs that are open and answer.", \.connections),
      gauge("tacet_apns_streams", "Pushes on their way on a connection to APNs.", \.pushesInFlight),
      gauge("tacet_apns_waiting", "Pushes that wait for a free stream.", \.pushesWaiting),
    ]
  }

  /// A line for each reactor and route: at most four routes for each configured app.
  private static func routes(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ isSo: (RouteState) -> Bool) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for figure in figures {
        for state in figure.routes {
          family.add(.integer(isSo(state) ? 1 : 0), state.route.labels(and: ("reactor", figure.reactor)))
        }
      }
      return family
    }
    return [
      gauge("tacet_apns_route_open", "1 when pushes go, 0 when they wait in the database.") { $0.fault == nil },
      gauge("tacet_apns_route_needed", "1 when the route is an app's own or pushes wait for it.", \.isNeeded),
      gauge("tacet_apns_route_connected", "1 when a connection is open.", \.isConnected),
      breakers(figures.flatMap(\.routes)),
    ]
  }

  private static func breakers(_ states: [RouteState]) -> MetricFamily {
    var family = MetricFamily(
      "tacet_apns_breakers", "Reactors by whether a route's pushes go: closed, open, or probing.", .gauge)
    for (route, states) in Dictionary(grouping: states, by: \.route) {
      for state in BreakerState.allCases {
        let count = states.count { $0.breaker == state }
        family.add(.integer(Int64(count)), route.labels(and: ("state", state.rawValue)))
      }
    }
    return family
  }
}

extension [ReactorFigures] {
  fileprivate func sum(_ value: KeyPath<ReactorFigures, Int>) -> Int64 {
    Int64(reduce(0) { $0 + $1[keyPath: value] })
  }
}

extension PushRoute {
  fileprivate func labels(and other: (String, String)) -> MetricLabels {
    MetricLabels([("app", app.text), ("environment", environment.rawValue), other])
  }
}
