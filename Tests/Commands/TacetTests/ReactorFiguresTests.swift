import PrometheusMetrics
import PushPipeline
import PushRules
import Testing

@testable import Postgres
@testable import tacet

@Suite("Figures of the reactors")
struct ReactorFiguresTests {
  private func figures(_ name: String, connections: Int, _ breakers: [BreakerState]) throws -> ReactorFigures {
    let apps = try breakers.indices.map { try BundleIdentifier("com.example.a\($0)") }
    return ReactorFigures(
      reactor: name, ticks: 3, jobsFromOtherThreads: 2, wakeUps: 1, database: .init(roundTrips: 9, reconnects: 1),
      sessions: .init(idle: 2, inUse: 1, closed: 1, waiting: 4), claimAge: .milliseconds(1500),
      apnsConnectionsOpened: 5,
      apns: [.production: APNSFigures(connections: connections, pushesInFlight: 7, pushesWaiting: 1)],
      routes: zip(apps, breakers).map { app, breaker in
        RouteState(
          route: PushRoute(app: app, environment: .production), fault: breaker == .closed ? nil : "Shutdown",
          breaker: breaker, isOwn: true, isNeeded: breaker != .probing, isConnected: true, isReady: true, failure: nil)
      },
      others: [OtherRouteState(name: "fcm/demo", fault: "UNAVAILABLE", isNeeded: true)])
  }

  private func lines(_ figures: [ReactorFigures], of name: String) -> [Substring] {
    ExpositionText.make(ReactorFigures.families(of: figures)).split(separator: "\n").filter { $0.hasPrefix(name) }
  }

  @Test("counters have a line for each reactor")
  func counters() throws {
    let both = [try figures("reactor-0", connections: 1, []), try figures("reactor-1", connections: 2, [])]
    #expect(
      lines(both, of: "tacet_database_round_trips_total") == [
        "tacet_database_round_trips_total{reactor=\"reactor-0\"} 9",
        "tacet_database_round_trips_total{reactor=\"reactor-1\"} 9",
      ])
  }

  @Test("what sessions and connections do now is the sum of the reactors, and both environments have a line")
  func sums() throws {
    let both = [try figures("reactor-0", connections: 1, []), try figures("reactor-1", connections: 2, [])]
    #expect(
      lines(both, of: "tacet_database_sessions") == [
        "tacet_database_sessions{state=\"closed\"} 2", "tacet_database_sessions{state=\"idle\"} 4",
        "tacet_database_sessions{state=\"in_use\"} 2",
      ])
    #expect(lines(both, of: "tacet_database_waiting") == ["tacet_database_waiting 8"])
    #expect(
      lines(both, of: "tacet_claim_age_seconds") == [
        "tacet_claim_age_seconds{reactor=\"reactor-0\"} 1.5", "tacet_claim_age_seconds{reactor=\"reactor-1\"} 1.5",
      ])
    #expect(
      lines(both, of: "tacet_apns_connections{") == [
        "tacet_apns_connections{environment=\"production\"} 3", "tacet_apns_connections{environment=\"sandbox\"} 0",
      ])
  }

  @Test(
    "a route is open where its breaker is closed, and needed or not; the breakers' states are counted over the reactors"
  )
  func routes() throws {
    let both = [
      try figures("reactor-0", connections: 1, [.closed]), try figures("reactor-1", connections: 1, [.probing]),
    ]
    #expect(lines(both, of: "tacet_apns_route_open").map { $0.suffix(2) } == [" 1", " 0"])
    #expect(lines(both, of: "tacet_push_route_open").map { $0.suffix(2) } == [" 0", " 0"])
    #expect(lines(both, of: "tacet_push_route_needed").map { $0.suffix(2) } == [" 1", " 1"])
    #expect(lines(both, of: "tacet_apns_route_needed").map { $0.suffix(2) } == [" 1", " 0"])
    let app = #"app="com.example.a0",environment="production""#
    #expect(
      lines(both, of: "tacet_apns_breakers") == [
        "tacet_apns_breakers{\(app),state=\"closed\"} 1", "tacet_apns_breakers{\(app),state=\"open\"} 0",
        "tacet_apns_breakers{\(app),state=\"probing\"} 1",
      ])
  }
}
