import API
import Foundation
import HTTPTypes
import PrometheusMetrics
import PushPipeline
import PushRules
import TestRepository
import Testing

@testable import HTTP1
@testable import Postgres
@testable import PushStore
@testable import tacet

@Suite("Figures of the HTTP service")
struct HTTPServiceFiguresFamiliesTests {
  @Test("every reason has a line from the start, and every answer its route's pattern")
  func lines() {
    var figures = HTTPServiceFigures()
    figures.accepted = 7
    figures.open = 2
    figures.turnedAway = [.peer: 3]
    figures.failedHandshakes = 1
    let webhook = HTTPOperation(method: .post, pattern: "/v1/webhooks/{kind}")
    figures.answers = [.init(webhook, status: 503): 4, .init(webhook, status: 200): 5, .init(nil, status: 404): 6]
    let text = ExpositionText.make(HTTPServiceFigures.families(of: figures))
    #expect(
      text.split(separator: "\n").filter { !$0.hasPrefix("#") } == [
        "tacet_http_connections_accepted_total 7",
        "tacet_http_connections_open 2",
        "tacet_http_connections_turned_away_total{reason=\"descriptors\"} 0",
        "tacet_http_connections_turned_away_total{reason=\"full\"} 0",
        "tacet_http_connections_turned_away_total{reason=\"peer\"} 3",
        "tacet_http_responses_total{method=\"POST\",route=\"/v1/webhooks/{kind}\",status=\"200\"} 5",
        "tacet_http_responses_total{method=\"POST\",route=\"/v1/webhooks/{kind}\",status=\"503\"} 4",
        "tacet_http_responses_total{method=\"none\",route=\"none\",status=\"404\"} 6",
        "tacet_http_tls_handshake_failures_total 1",
      ])
  }
}

@Suite("Figures of the process and its database")
struct PipelineFiguresTests {
  private func figures(
    _ queue: QueueFigures? = nil, _ listening: ListenStatus.State = .listening, isUp: Bool? = nil,
    isAsleep: Bool? = nil, engagement: EngagementAnalysis? = nil,
    hostEvents: HostEventFigures? = nil, breakers: [BreakerState] = []
  ) throws -> PipelineFigures {
    let apps = try breakers.indices.map { try BundleIdentifier("com.example.a\($0)") }
    return PipelineFigures(
      claimAge: .milliseconds(1500), apnsConnectionsOpened: 5,
      apns: [.production: APNSFigures(connections: 3, pushesInFlight: 7, pushesWaiting: 1)],
      routes: zip(apps, breakers).map { app, breaker in
        RouteState(
          route: PushRoute(app: app, environment: .production), fault: breaker == .closed ? nil : "Shutdown",
          breaker: breaker, isOwn: true, isNeeded: breaker != .probing, isConnected: true, isReady: true, failure: nil)
      },
      others: [OtherRouteState(name: "fcm/demo", fault: "UNAVAILABLE", isNeeded: true)],
      database: DatabaseFigures(
        queue: queue, engagement: engagement, hostEvents: hostEvents, isUp: isUp ?? (queue != nil)),
      isDatabaseAsleep: isAsleep, listening: listening, tokenAges: [])
  }

  private func lines(_ figures: PipelineFigures) -> [Substring] {
    ExpositionText.make(figures.families).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  /// Without those of channels and claims.
  private func lines(
    _ queue: QueueFigures?, _ listening: ListenStatus.State = .listening, isUp: Bool? = nil,
    isAsleep: Bool? = nil, engagement: EngagementAnalysis? = nil,
    hostEvents: HostEventFigures? = nil
  ) throws -> [Substring] {
    try lines(
      figures(queue, listening, isUp: isUp, isAsleep: isAsleep, engagement: engagement, hostEvents: hostEvents)
    ).filter { line in !["tacet_apns", "tacet_push_route", "tacet_claim"].contains { line.hasPrefix($0) } }
  }

  @Test("claims and connections have a line each, and both environments")
  func connections() throws {
    let lines = lines(try figures())
    #expect(lines.contains("tacet_claim_age_seconds 1.5"))
    #expect(lines.contains("tacet_apns_connections_opened_total 5"))
    #expect(
      lines.filter { $0.hasPrefix("tacet_apns_connections{") } == [
        "tacet_apns_connections{environment=\"production\"} 3", "tacet_apns_connections{environment=\"sandbox\"} 0",
      ])
  }

  @Test("a route is open where its breaker is closed, and needed or not; its breaker has a line for each state")
  func routes() throws {
    let lines = lines(try figures(breakers: [.closed, .probing]))
    func values(of name: String) -> [Substring] { lines.filter { $0.hasPrefix(name) }.map { $0.suffix(2) } }
    #expect(values(of: "tacet_apns_route_open") == [" 1", " 0"])
    #expect(values(of: "tacet_push_route_open") == [" 0"])
    #expect(values(of: "tacet_push_route_needed") == [" 1"])
    #expect(values(of: "tacet_apns_route_needed") == [" 1", " 0"])
    let app = #"app="com.example.a1",environment="production""#
    #expect(
      lines.filter { $0.hasPrefix("tacet_apns_breakers{\(app)") } == [
        "tacet_apns_breakers{\(app),state=\"closed\"} 0", "tacet_apns_breakers{\(app),state=\"open\"} 0",
        "tacet_apns_breakers{\(app),state=\"probing\"} 1",
      ])
  }

  @Test("events for the host have a line each; without one there is no age")
  func hostEvents() throws {
    var figures = HostEventFigures()
    (figures.waiting, figures.oldestAge, figures.dead, figures.checks) = (3, .milliseconds(2500), 1, 4)
    #expect(
      try lines(nil, .unused, isUp: true, hostEvents: figures) == [
        "tacet_database_up 1", "tacet_host_events_dead 1", "tacet_host_events_oldest_age_seconds 2.5",
        "tacet_host_events_waiting 3", "tacet_unread_checks 4",
      ])
    figures.oldestAge = nil
    #expect(try lines(nil, hostEvents: figures).contains("tacet_host_events_oldest_age_seconds 0"))
  }

  @Test("what waits has a line each; an empty inbox has no age")
  func waits() throws {
    var queue = QueueFigures()
    (queue.freshEvents, queue.claimedEvents, queue.held, queue.retryable) = (3, 1, 2, 4)
    queue.waiting = ["a/production": 5, "other": 6]
    (queue.parked, queue.triggerFailures) = (7, 8)
    queue.runningActivities = 9
    #expect(
      try lines(queue) == [
        "tacet_database_listening 1", "tacet_database_oldest_slot_age_transactions 0",
        "tacet_database_oldest_snapshot_age_seconds 0", "tacet_database_up 1", "tacet_deliveries{state=\"held\"} 2",
        "tacet_deliveries{state=\"retryable\"} 4", "tacet_deliveries{state=\"waiting\"} 11",
        "tacet_deliveries_waiting{lane=\"a/production\"} 5", "tacet_deliveries_waiting{lane=\"other\"} 6",
        "tacet_inbox_events{state=\"claimed\"} 1", "tacet_inbox_events{state=\"fresh\"} 3",
        "tacet_inbox_oldest_event_age_seconds 0", "tacet_live_activities_running 9",
        "tacet_parked_work 7", "tacet_trigger_failures 8",
      ])
    queue.oldestEventAge = .milliseconds(1500)
    #expect(try lines(queue).contains("tacet_inbox_oldest_event_age_seconds 1.5"))
  }

  @Test("a process that may leave the database alone says whether it does")
  func asleep() throws {
    #expect(try lines(nil, .unused, isUp: true, isAsleep: true) == ["tacet_database_asleep 1", "tacet_database_up 1"])
    #expect(try lines(nil, .unused, isUp: true, isAsleep: false).contains("tacet_database_asleep 0"))
  }

  @Test("the newest analysis of engagement has a line for each class; before the first there is none")
  func engagement() throws {
    var figures = EngagementFigures(periodStart: 0, periodEnd: 7 * 86_400 * 1_000_000)
    (figures.totalUsers, figures.activeUsers, figures.lapsedUsers, figures.churnRiskUsers) = (8, 2, 5, 1)
    (figures.sessions, figures.sessionSeconds) = (12, 600)
    let analysis = EngagementAnalysis(analysedAt: 1_700_000_000_500_000, figures: figures)
    #expect(
      try lines(nil, .unused, isUp: true, engagement: analysis) == [
        "tacet_database_up 1", "tacet_engagement_analysed_timestamp_seconds 1700000000.5", "tacet_engagement_rate 0.25",
        "tacet_engagement_session_seconds 50", "tacet_engagement_sessions_per_week 1.5",
        "tacet_engagement_users{class=\"active\"} 2", "tacet_engagement_users{class=\"churn_risk\"} 1",
        "tacet_engagement_users{class=\"lapsed\"} 5", "tacet_engagement_users{class=\"recent\"} 0",
      ])
  }

  @Test("while the database is away it is said to be, and nothing is said of what waits there")
  func away() throws {
    #expect(try lines(nil, .deaf("gone")) == ["tacet_database_listening 0", "tacet_database_up 0"])
  }

  @Test("a database that only takes too long to say what waits is up")
  func slow() throws {
    #expect(try lines(nil, .unused, isUp: true) == ["tacet_database_up 1"])
  }

  @Test("where nobody is to listen, nothing is said of it")
  func unused() throws {
    #expect(try lines(nil, .unused) == ["tacet_database_up 0"])
  }

  @Test("the version is that of the interface's description")
  func version() throws {
    #expect(try Repository.text("openapi.yaml").contains("\n  version: \(BuildInformation.version)\n"))
  }
}

@Suite("Figures of the reactors")
struct ReactorFiguresTests {
  private func lines(of name: String) -> [Substring] {
    let figures = ["reactor-0", "reactor-1"].map {
      ReactorFigures(
        reactor: $0, ticks: 3, jobsFromOtherThreads: 2, wakeUps: 1,
        sessions: SessionLoad(
          counters: .init(roundTrips: 9, reconnects: 1), usage: .init(idle: 2, inUse: 1, closed: 1, waiting: 4)))
    }
    return ExpositionText.make(ReactorFigures.families(of: figures)).split(separator: "\n").filter {
      $0.hasPrefix(name)
    }
  }

  @Test("counters have a line for each reactor")
  func counters() {
    #expect(
      lines(of: "tacet_database_round_trips_total") == [
        "tacet_database_round_trips_total{reactor=\"reactor-0\"} 9",
        "tacet_database_round_trips_total{reactor=\"reactor-1\"} 9",
      ])
  }

  @Test("what sessions do now is the sum of the reactors")
  func sums() {
    #expect(
      lines(of: "tacet_database_sessions") == [
        "tacet_database_sessions{state=\"closed\"} 2", "tacet_database_sessions{state=\"idle\"} 4",
        "tacet_database_sessions{state=\"in_use\"} 2",
      ])
    #expect(lines(of: "tacet_database_waiting") == ["tacet_database_waiting 8"])
  }
}

@Suite("A route's part of readiness")
struct RouteStateTests {
  private func readiness(
    fault: String? = nil, isOwn: Bool = true, isNeeded: Bool = true, isReady: Bool = true, failure: String? = nil
  ) throws -> ReadinessCheck {
    let route = PushRoute(app: try BundleIdentifier("com.example.app"), environment: .sandbox)
    return RouteState(
      route: route, fault: fault, breaker: fault == nil ? .closed : .open, isOwn: isOwn, isNeeded: isNeeded,
      isConnected: isReady, isReady: isReady, failure: failure
    ).readiness
  }

  @Test("pushes go: it is well, whatever the client has to say", arguments: [nil, "the clock is wrong"])
  func ready(_ failure: String?) throws {
    let check = try readiness(failure: failure)
    #expect(check.name == "apns com.example.app/sandbox")
    #expect(check.isReady && check.detail == nil)
  }

  @Test("an app's own route is not well when it has a fault or no connection; strangers read no host")
  func own() throws {
    let shut = try readiness(fault: "Shutdown", failure: "10.0.0.7: refused")
    #expect(!shut.isReady)
    #expect(shut.detail == "APNs takes no pushes, they wait: Shutdown")
    let away = try readiness(isReady: false, failure: "10.0.0.7: refused")
    #expect(!away.isReady)
    #expect(away.detail == "not connected")
  }

  @Test("one that only device tokens name is told of, and makes nothing unready", arguments: [true, false])
  func other(_ isNeeded: Bool) throws {
    let shut = try readiness(fault: "BadEnvironmentKeyInToken", isOwn: false, isNeeded: isNeeded)
    #expect(shut.isReady)
    let consequence = isNeeded ? "they wait" : "none is waiting"
    #expect(shut.detail == "APNs takes no pushes, \(consequence): BadEnvironmentKeyInToken")
    let away = try readiness(isOwn: false, isNeeded: isNeeded, isReady: false, failure: "no address of sandbox.example")
    #expect(away.isReady)
    #expect(away.detail == "not connected")
  }
}
