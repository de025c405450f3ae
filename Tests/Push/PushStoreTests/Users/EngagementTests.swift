import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

/// A host whose users say how they want to be treated in absence, and which reminders they want.
struct EngagementScene: Sendable {
  let campaigns: CampaignScene
  var database: TestDatabase { campaigns.database }

  init() async throws {
    campaigns = try await CampaignScene()
    try await database.apply(Repository.file("db/examples/engagement.sql"))
  }

  /// A user with a device.
  /// - Parameters:
  ///   - absence, reminders: JSON, or nil for null.
  ///   - idle: since the last activity at the moment, as an interval; nil for a user who was never active.
  ///   - askedAgo: likewise, since the last push that asked the user back.
  func addUser(
    absence: String? = nil, reminders: String? = nil, idle: String? = nil, attempts: Int = 0, askedAgo: String? = nil,
    zone: String = ZoneNearNoon.name, at moment: String = "now()"
  ) async throws -> HostID {
    let id = try await campaigns.addUser("{}", zone: "'\(zone)'")
    func literal(_ json: String?) -> String { json.map { "'\($0)'" } ?? "null" }
    try await database.sql(
      """
      update context_profiles
      set communication_preferences = \(literal(absence)), reminder_preferences = \(literal(reminders))
      where user_id = '\(id)'
      """)
    if let idle {
      let asked = askedAgo.map { "\(moment) - interval '\($0)'" } ?? "null"
      try await database.sql(
        """
        insert into tacet.activity (user_id, last_active, session_began_at, re_engagement_attempts, re_engaged_at)
        values ('\(id)', \(moment) - interval '\(idle)', \(moment) - interval '\(idle)', \(attempts), \(asked))
        """)
    }
    return id
  }

  /// What the audience of a campaign says of a user at a moment: these columns.
  func audience(
    _ campaign: String, _ columns: String, of user: HostID, at moment: String = "now()"
  ) async throws -> String {
    try await database.sql("select \(columns) from tacet.\(campaign)_audience(\(moment), '\(user)')")
  }
}

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

@Suite("Activity of users")
struct ActivityTests {
  /// Notes a user's activity some minutes before noon, and returns whether it was written.
  private func note(_ user: HostID, _ minutesAgo: Double, in database: TestDatabase) async throws -> Bool {
    let moment = "timestamptz '2026-11-22 12:00Z' - \(minutesAgo) * interval '1 minute'"
    return try await database.sql("select tacet.note_activity('\(user)', \(moment))") == "t"
  }

  private func sessions(of user: HostID, in database: TestDatabase) async throws -> [String] {
    try await database.sql(
      """
      select extract(epoch from s.began_at - timestamptz '2026-11-22 12:00Z')::int / 60,
        extract(epoch from s.ended_at - s.began_at)::int / 60
      from tacet.sessions_of('\(user)', '-infinity', 'infinity') s order by s.began_at
      """
    ).split(separator: "\n").map(String.init)
  }

  @Test("a user is written once in five minutes; what is older than the last sign changes nothing")
  func interval() async throws {
    let database = try await TestDatabase.migrated()
    let user = HostID.new()
    #expect(try await note(user, 100, in: database))
    #expect(try await note(user, 95.01, in: database) == false)
    #expect(try await note(user, 95, in: database))
    #expect(try await note(user, 95, in: database) == false)
    #expect(try await note(user, 200, in: database) == false)
    #expect(try await sessions(of: user, in: database) == ["-100|5"])
  }

  @Test("signs less than thirty minutes apart are a session")
  func gap() async throws {
    let database = try await TestDatabase.migrated()
    let user = HostID.new()
    for minutes in [200.0, 170.01, 140, 120, 90, 85] { _ = try await note(user, minutes, in: database) }
    #expect(try await sessions(of: user, in: database) == ["-200|29", "-140|20", "-90|5"])
  }

  @Test("many users are one statement, each written once; a time to come is now, and who is back starts anew")
  func many() async throws {
    let database = try await TestDatabase.migrated()
    let users = [HostID.new(), HostID.new(), HostID.new()]
    try await database.sql("select tacet.note_activity('\(users[0])', now() - interval '4 days')")
    try await database.sql("update tacet.activity set re_engagement_attempts = 2")
    let ids = (users + users).map { "'\($0)'" }.joined(separator: ", ")
    let call = "select tacet.note_active_users(array[\(ids)]::uuid[], now() + interval '1 day')"
    #expect(try await database.sql(call) == "3")
    #expect(try await database.sql(call) == "0")
    let kept = "select count(*), sum(re_engagement_attempts), bool_and(last_active <= now()) from tacet.activity"
    #expect(try await database.sql(kept) == "3|0|t")
    #expect(try await database.sql("select tacet.note_active_users(array[null]::uuid[], now())") == "0")
  }

  @Test("two sessions of the database that note the same user write it once")
  func race() async throws {
    let database = try await TestDatabase.migrated()
    let user = HostID.new()
    try await withSessions(database, 3) { sessions, reactor in
      let (first, second, witness) = (sessions[0], sessions[1], sessions[2])
      let call = "tacet.note_activity('\(user)')"
      try await first.run("begin; select \(call)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(call, on: reactor) }
      try await witness.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "false")
    }
    #expect(try await database.sql("select count(*) from tacet.user_sessions") == "1")
  }
}
