import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Engagement of users")
struct EngagementTests {
  private static let isDefault = """
    select tacet.is_default(to_regprocedure('tacet.sessions_of(uuid, timestamptz, timestamptz)'))
    """

  /// Notes a user's activity some minutes before noon.
  private func note(_ user: HostID, _ minutesAgo: Double, in database: TestDatabase) async throws {
    let moment = "timestamptz '2026-11-22 12:00Z' - \(minutesAgo) * interval '1 minute'"
    try await database.sql("select tacet.note_activity('\(user)', \(moment))")
  }

  @Test(
    "the class is that of the exact time since the last activity",
    arguments: [
      ("0", "active"), ("1 day", "active"), ("1 day 1 second", "recent"), ("24 hours 1 second", "recent"),
      ("3 days", "recent"),
      ("3 days 1 second", "lapsed"), ("7 days", "lapsed"), ("7 days 1 second", "churn_risk"), ("1 year", "churn_risk"),
    ])
  func classes(idle: String, expected: String) async throws {
    let database = try await TestDatabase.migrated()
    #expect(try await database.sql("select tacet.engagement_class(interval '\(idle)')") == expected)
  }

  @Test("users of today, of four and of five days ago are 3, 1, 0, 2, 0; earlier ends see what was known then")
  func engagement() async throws {
    let database = try await TestDatabase.migrated()
    let noon = "timestamptz '2026-11-22 12:00Z'"
    let days = [[0.0, 20], [4], [5, 5.01]]
    for times in days {
      let user = HostID.new()
      for time in times.sorted(by: >) { try await note(user, time * 1440, in: database) }
    }
    func figures(_ start: String, _ end: String) async throws -> String {
      try await database.sql("select e.* from tacet.engagement(\(start), \(end)) e")
    }
    #expect(try await figures("\(noon) - interval '7 days'", noon) == "3|1|0|2|0|2|864")
    #expect(try await figures("\(noon) - interval '30 days'", noon) == "3|1|0|2|0|3|864")
    // Of the three, one was seen by then, 15 days before; and what began at the end is left out.
    let earlier = "\(noon) - interval '5.01 days'"
    #expect(try await figures("\(noon) - interval '7 days'", earlier) == "2|1|0|0|1|0|0")
    #expect(try await figures("\(noon) - interval '40 days'", "\(noon) - interval '30 days'") == "0|0|0|0|0|0|0")
  }

  @Test("an application may say what a session is")
  func replaced() async throws {
    let database = try await TestDatabase.migrated()
    try await note(HostID.new(), 60, in: database)
    try await database.sql(
      """
      create or replace function tacet.sessions_of(user_id uuid, period_start timestamptz, period_end timestamptz)
      returns table (began_at timestamptz, ended_at timestamptz) language sql stable
      as $$ select period_start, period_start + n * interval '1 minute' from generate_series(1, 2) as n $$
      """)
    let end = "timestamptz '2026-11-22 12:00Z'"
    let counted = "select sessions, session_seconds from tacet.engagement(\(end) - interval '1 day', \(end))"
    #expect(try await database.sql(counted) == "2|180")
  }

  @Test("a database whose sessions are the default counts them without asking for those of each user")
  func plans() async throws {
    let database = try await TestDatabase.migrated()
    #expect(try await database.sql(Self.isDefault) == "t")
    let plan = try await database.sql(
      "explain select from tacet.activity a cross join lateral tacet.sessions_of(a.user_id, now(), now()) s")
    #expect(!plan.contains("Function Scan"), "\(plan)")
    try await database.sql(
      """
      create or replace function tacet.sessions_of(user_id uuid, period_start timestamptz, period_end timestamptz)
      returns table (began_at timestamptz, ended_at timestamptz) language sql stable
      as $$ select null::timestamptz, null::timestamptz where false $$
      """)
    #expect(try await database.sql(Self.isDefault) == "f")
  }
}
