import PushRules
import TestIDs
import Testing

@testable import PushStore

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
