import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("The analysis of engagement")
struct EngagementAnalysisTests {
  private static let count = "select count(*) from tacet.engagement_analyses"

  /// SQL that writes an analysis of nobody.
  private func insertion(analysed age: String) -> String {
    """
    insert into tacet.engagement_analyses (
      analysed_at, period_start, period_end, total_users, active_users, recent_users, lapsed_users, churn_risk_users, sessions,
      session_seconds)
    values (now() - (\(age)), now(), now(), 0, 0, 0, 0, 0, 0, 0)
    """
  }

  @Test("it stores the classes of now and the sessions of the seven days before")
  func stored() async throws {
    let database = try await TestDatabase.migrated()
    for (days, minutes) in [(0, [20, 10, 0]), (4, [0]), (5, [0]), (8, [0])] {
      let user = HostID.new()
      for minute in minutes {
        try await database.sql(
          "select tacet.note_activity('\(user)', now() - interval '\(days) days \(minute) minutes')")
      }
    }
    #expect(try await withStore(database) { try await $0.newestEngagementAnalysis(within: patience, on: $1) } == nil)
    #expect(try await database.sql("select tacet.analyse_engagement()") == "72:00:00")
    let found = try await withStore(database) { try await $0.newestEngagementAnalysis(within: patience, on: $1) }
    let analysis = try #require(found)
    let figures = analysis.figures
    #expect(figures.classes.map(\.users) == [1, 0, 2, 1] && figures.totalUsers == 4 && figures.engagementRate == 0.25)
    #expect(figures.sessions == 3 && figures.sessionsPerWeek == 0.75 && abs(figures.secondsPerSession - 400) < 10)
    #expect(figures.period.upperBound == analysis.analysedAt)
    #expect(figures.period.count == 7 * 86_400 * 1_000_000)
    let all = try await withStore(database) { try await $0.engagementAnalyses(rowsMax: 5, on: $1) }
    #expect(all == [analysis])
  }

  @Test(
    "the next is due when the newest is 72 hours old, and not a microsecond before",
    arguments: [
      ("72 hours", "72:00:00", "2"), ("72 hours 1 microsecond", "72:00:00", "2"),
      ("72 hours -1 microseconds", "00:00:00.000001", "1"), ("1 hour", "71:00:00", "1"),
    ])
  func due(_ age: String, _ wait: String, _ rows: String) async throws {
    let database = try await TestDatabase.migrated()
    let answers = try await database.sql(
      """
      begin; \(insertion(analysed: "interval '\(age)'"));
      select extract(epoch from tacet.analyse_engagement()) = extract(epoch from interval '\(wait)'); \(Self.count); commit
      """)
    #expect(answers == "t\n\(rows)")
  }

  @Test("two sessions of the database at once store one; the other does not wait")
  func race() async throws {
    let database = try await TestDatabase.migrated()
    try await withSessions(database, 2) { sessions, reactor in
      try await sessions[0].run("begin; select tacet.analyse_engagement()", on: reactor)
      #expect(try await sessions[1].value("tacet.analyse_engagement()", on: reactor) == "00:01:00")
      try await sessions[0].run("commit", on: reactor)
      #expect(try await sessions[1].value("tacet.analyse_engagement() > interval '71 hours'", on: reactor) == "true")
    }
    #expect(try await database.sql(Self.count) == "1")
  }

  @Test("analyses older than a year go when one is stored")
  func pruned() async throws {
    let database = try await TestDatabase.migrated()
    for age in ["interval '1 year 1 hour'", "interval '1 year' - interval '1 hour'"] {
      try await database.sql(insertion(analysed: age))
    }
    try await database.sql("select tacet.analyse_engagement()")
    #expect(try await database.sql(Self.count) == "2")
    #expect(try await database.sql(Self.count + " where analysed_at < now() - interval '1 year'") == "0")
  }
}
