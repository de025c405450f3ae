import Foundation
import PrometheusMetrics
import PushStore
import TestRepository
import Testing

@testable import tacet

@Suite("Figures of the process and its database")
struct ProcessWideFiguresTests {
  private func lines(
    _ queue: QueueFigures?, _ listening: ListenStatus.State = .listening, isUp: Bool? = nil,
    isAsleep: Bool? = nil, engagement: EngagementAnalysis? = nil,
    hostEvents: HostEventFigures? = nil
  ) -> [Substring] {
    let figures = ProcessWideFigures(
      database: DatabaseFigures(
        queue: queue, engagement: engagement, hostEvents: hostEvents, isUp: isUp ?? (queue != nil)),
      isDatabaseAsleep: isAsleep, listening: listening, tokenAges: [])
    return ExpositionText.make(figures.families).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  @Test("events for the host have a line each; without one there is no age")
  func hostEvents() {
    var figures = HostEventFigures()
    (figures.waiting, figures.oldestAge, figures.dead, figures.checks) = (3, .milliseconds(2500), 1, 4)
    #expect(
      lines(nil, .unused, isUp: true, hostEvents: figures) == [
        "tacet_database_up 1", "tacet_host_events_dead 1", "tacet_host_events_oldest_age_seconds 2.5",
        "tacet_host_events_waiting 3", "tacet_unread_checks 4",
      ])
    figures.oldestAge = nil
    #expect(lines(nil, hostEvents: figures).contains("tacet_host_events_oldest_age_seconds 0"))
  }

  @Test("what waits has a line each; an empty inbox has no age")
  func waits() {
    var queue = QueueFigures()
    (queue.freshEvents, queue.claimedEvents, queue.held, queue.retryable) = (3, 1, 2, 4)
    queue.waiting = ["a/production": 5, "other": 6]
    (queue.parked, queue.triggerFailures) = (7, 8)
    queue.runningActivities = 9
    #expect(
      lines(queue) == [
        "tacet_database_listening 1", "tacet_database_oldest_slot_age_transactions 0",
        "tacet_database_oldest_snapshot_age_seconds 0", "tacet_database_up 1", "tacet_deliveries{state=\"held\"} 2",
        "tacet_deliveries{state=\"retryable\"} 4", "tacet_deliveries{state=\"waiting\"} 11",
        "tacet_deliveries_waiting{lane=\"a/production\"} 5", "tacet_deliveries_waiting{lane=\"other\"} 6",
        "tacet_inbox_events{state=\"claimed\"} 1", "tacet_inbox_events{state=\"fresh\"} 3",
        "tacet_inbox_oldest_event_age_seconds 0", "tacet_live_activities_running 9",
        "tacet_parked_work 7", "tacet_trigger_failures 8",
      ])
    queue.oldestEventAge = .milliseconds(1500)
    #expect(lines(queue).contains("tacet_inbox_oldest_event_age_seconds 1.5"))
  }

  @Test("a process that may leave the database alone says whether it does")
  func asleep() {
    #expect(lines(nil, .unused, isUp: true, isAsleep: true) == ["tacet_database_asleep 1", "tacet_database_up 1"])
    #expect(lines(nil, .unused, isUp: true, isAsleep: false).contains("tacet_database_asleep 0"))
  }

  @Test("the newest analysis of engagement has a line for each class; before the first there is none")
  func engagement() {
    var figures = EngagementFigures(period: 0..<(7 * 86_400 * 1_000_000))
    (figures.totalUsers, figures.activeUsers, figures.lapsedUsers, figures.churnRiskUsers) = (8, 2, 5, 1)
    (figures.sessions, figures.sessionSeconds) = (12, 600)
    let analysis = EngagementAnalysis(analysedAt: 1_700_000_000_500_000, figures: figures)
    #expect(
      lines(nil, .unused, isUp: true, engagement: analysis) == [
        "tacet_database_up 1", "tacet_engagement_analysed_timestamp_seconds 1700000000.5", "tacet_engagement_rate 0.25",
        "tacet_engagement_session_seconds 50", "tacet_engagement_sessions_per_week 1.5",
        "tacet_engagement_users{class=\"active\"} 2", "tacet_engagement_users{class=\"churn_risk\"} 1",
        "tacet_engagement_users{class=\"lapsed\"} 5", "tacet_engagement_users{class=\"recent\"} 0",
      ])
  }

  @Test("while the database is away it is said to be, and nothing is said of what waits there")
  func away() {
    #expect(lines(nil, .deaf("gone")) == ["tacet_database_listening 0", "tacet_database_up 0"])
  }

  @Test("a database that only takes too long to say what waits is up")
  func slow() {
    #expect(lines(nil, .unused, isUp: true) == ["tacet_database_up 1"])
  }

  @Test("where nobody is to listen, nothing is said of it")
  func unused() {
    #expect(lines(nil, .unused) == ["tacet_database_up 0"])
  }

  @Test("the version is that of the interface's description")
  func version() throws {
    #expect(try Repository.text("openapi.yaml").contains("\n  version: \(BuildInformation.version)\n"))
  }
}
