import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

@Suite("Claims of users whom a campaign looks at")
struct CampaignClaimTests {
  @Test("a lease keeps others away until it ends, and each claim counts")
  func leases() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let claims = [
        try await store.claim(for: .zero, on: reactor), try await store.claim(for: .seconds(60), on: reactor),
        try await store.claim(for: .seconds(60), on: reactor),
      ]
      #expect(claims.map { $0.map(\.attempts) } == [[1], [2], []])
    }
  }

  @Test("what is decided is not claimed again")
  func decided() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let turn = try #require(try await store.claim(for: .zero, on: reactor).first)
      #expect(try await store.decide(turn, reason: "nothing_to_say", on: reactor))
      #expect(try await store.claim(for: .zero, on: reactor) == [])
    }
  }

  @Test("those come first who have waited longest, as many as asked for")
  func order() async throws {
    let scene = try await Self.noted(5)
    try await scene.database.sql(
      """
      update tacet.occasions d set available_at = now() - n.place * interval '1 second'
      from (select user_id, row_number() over (order by md5(user_id::text)) as place from tacet.occasions) n
      where n.user_id = d.user_id
      """)
    let waiting = try await scene.database.sql("select user_id from tacet.occasions order by available_at")
    try await withStore(scene.database) { store, reactor in
      var claimed: [String] = []
      for count in [2, 2, 1] {
        let turns = try await store.claim(2, for: .seconds(60), on: reactor)
        #expect(turns.count == count)
        claimed += Set(turns.map { $0.userID.text }).sorted {
          waiting.place(of: $0) < waiting.place(of: $1)
        }
      }
      #expect(claimed.joined(separator: "\n") == waiting)
    }
  }

  @Test("two sessions never get the same user, and neither waits")
  func apart() async throws {
    let scene = try await Self.noted(5)
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      let one = try await first.claimTurns(3, on: reactor)
      let other = try await second.claimTurns(3, on: reactor)
      #expect(one.count == 3 && other.count == 2 && Set(one).isDisjoint(with: other))
      try await first.run("rollback", on: reactor)
      #expect(Set(try await second.claimTurns(5, on: reactor)) == Set(one))
    }
  }

  @Test("a lease that is given back was never taken, unless somebody has claimed since")
  func release() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let first = try await store.claim(for: .zero, on: reactor)
      let second = try await store.claim(for: .seconds(60), on: reactor)
      try await store.release(first, on: reactor)
      #expect(try await store.claim(for: .seconds(60), on: reactor) == [])
      try await store.release(second, on: reactor)
      let third = try await store.claim(for: .seconds(60), on: reactor)
      #expect(third.map(\.attempts) == [2])
      try await store.decide(third[0], reason: "material_failed", on: reactor)
      try await store.release(third, on: reactor)
    }
    #expect(try await scene.database.sql("select attempts, status from tacet.occasions") == "2|failed")
  }

  @Test("a claim says when the hour is too long ago", arguments: [("59 minutes", false), ("3601 seconds", true)])
  func late(_ age: String, _ isLate: Bool) async throws {
    let scene = try await Self.noted(1)
    try await scene.database.sql("update tacet.occasions set fire_at = now() - interval '\(age)'")
    let claimed = try await withStore(scene.database) { try await $0.claim(for: .zero, on: $1) }
    #expect(claimed.map(\.isLate) == [isLate])
  }

  private static func noted(_ users: Int) async throws -> CampaignScene {
    let scene = try await CampaignScene()
    for _ in 0..<users { try await scene.addUser() }
    let run = try await withStore(scene.database) { try await $0.enrol("coach", onlyUser: nil, on: $1) }
    try #require(run?.enrolled == users)
    return scene
  }
}

extension PushDatabase {
  fileprivate func claim(
    _ count: Int = 100, for lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    try await claimTurns(count, lease: lease, lateAfter: .seconds(3600), on: reactor)
  }
}

extension Session {
  /// Users, over a connection whose transaction may be open.
  fileprivate func claimTurns(_ count: Int64, on reactor: isolated Reactor) async throws -> [HostID] {
    try await connection.query(
      .claimOccasions(
        haveSlots: false, areWritten: Bool?.none, rowsMax: count, waitingMax: 10_000, leaseMicroseconds: 60_000_000,
        graceMicroseconds: 3_600_000_000), on: reactor
    ).map { try $0.decode("user_id") }
  }
}

extension String {
  fileprivate func place(of part: String) -> Int { range(of: part)?.lowerBound.utf16Offset(in: self) ?? -1 }
}

@Suite("The hour at which a campaign looks at somebody")
struct CampaignHourTests {
  private static let zones = [
    "Asia/Tokyo", "Europe/Berlin", "America/New_York", "Pacific/Apia", "", "Mars/Olympus_Mons",
  ]

  @Test("is ten by the clock of each user")
  func eachZone() async throws {
    let scene = try await CampaignScene()
    for zone in Self.zones { try await scene.addUser(zone: "'\(zone)'") }
    for (moment, zones) in [
      ("2026-06-15 01:00+00", "Asia/Tokyo"), ("2026-06-15 08:00+00", "Europe/Berlin"),
      ("2026-06-15 14:00+00", "America/New_York"), ("2026-06-14 21:00+00", "Pacific/Apia"),
      // Of those of whom nobody knows where they live.
      ("2026-06-15 10:00+00", "UTC UTC"),
      ("2026-06-15 05:00+00", ""),
    ] {
      #expect(try await noted(scene, at: "'\(moment)'") == zones, "\(moment)")
    }
  }

  @Test("is served from its first microsecond until two hours are over")
  func edges() async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'Europe/Berlin'")
    for (offset, zones) in [
      ("- interval '1 us'", ""), ("", "Europe/Berlin"), ("+ interval '2 hours' - interval '1 us'", "Europe/Berlin"),
      ("+ interval '2 hours'", ""),
    ] {
      #expect(try await noted(scene, at: "timestamptz '2026-06-15 08:00+00' \(offset)") == zones, "\(offset)")
    }
  }

  /// Clocks of New York, the first moment that is served, and whether the day has a moment of that name.
  @Test(
    "a time that the clock leaves out comes as much later; one that comes twice is the first",
    arguments: [("02:30", "2026-03-08 07:30+00"), ("01:30", "2026-11-01 05:30+00")])
  func clockChanges(_ time: String, _ due: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'America/New_York'")
    try await scene.database.sql("update tacet.campaigns set local_time = '\(time)'")
    #expect(try await noted(scene, at: "timestamptz '\(due)' - interval '1 us'") == "")
    #expect(try await noted(scene, at: "timestamptz '\(due)'") == "America/New_York")
    let calls = ["0", "1"].map { "\(CampaignScene.enrolDue(at: "timestamptz '\(due)' + interval '\($0) hour'"));" }
    #expect(try await scene.database.sql("select \(calls[0]) select \(calls[1])") == "1\n0")
  }

  @Test("is only on the campaign's days, by the user's calendar")
  func weekdays() async throws {
    let scene = try await CampaignScene()
    for zone in ["Pacific/Apia", "UTC"] { try await scene.addUser(zone: "'\(zone)'") }
    try await scene.database.sql("update tacet.campaigns set weekdays = '{1,2,3,4,5}'")
    for (moment, zones) in [
      // A Monday in Apia that is Sunday elsewhere, and a Saturday that is Friday.
      ("2026-06-14 21:00+00", "Pacific/Apia"), ("2026-06-19 21:00+00", ""),
      ("2026-06-14 10:00+00", ""), ("2026-06-15 10:00+00", "UTC"), ("2026-06-19 10:00+00", "UTC"),
      ("2026-06-20 10:00+00", ""),
    ] {
      #expect(try await noted(scene, at: "'\(moment)'") == zones, "\(moment)")
    }
  }

  @Test(
    "does not come for a campaign that is not active or waits for requests, nor for one that does not exist",
    arguments: ["is_active = false", "is_scheduled = false", "name = 'another'", "weekdays = '{}'"])
  func notScheduled(_ change: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    try await scene.database.sql("update tacet.campaigns set \(change) where name = 'coach'")
    #expect(try await noted(scene, at: "'2026-06-15 10:00+00'") == "")
    #expect(try await scene.database.sql("select count(*) from tacet.campaign_runs") == "0")
  }

  @Test("a campaign's own time goes before the service's")
  func ownTime() async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    try await scene.database.sql("update tacet.campaigns set local_time = '18:00'")
    #expect(try await noted(scene, at: "'2026-06-15 10:00+00'") == "")
    #expect(try await noted(scene, at: "'2026-06-15 18:00+00'") == "UTC")
  }

  @Test("is served once, whoever else is about to; and by the other when the first gives up", arguments: [true, false])
  func once(_ isCommitted: Bool) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    let enrol = CampaignScene.enrolDue(at: "timestamptz '2026-06-15 10:00+00'")
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(enrol, on: reactor) == "1")
      let begun = Begun.begin(on: reactor) { try await second.value(enrol, on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? "0" : "1"))
    }
    #expect(try await scene.database.sql("select sum(enrolled) from tacet.campaign_runs") == "1")
    #expect(try await scene.database.sql("select count(*) from tacet.occasions") == "1")
  }

  /// Ten o'clock in Vienna: in Helsinki it came an hour earlier, and in Dubai two.
  @Test(
    "a user who moves gets one push a day, at the hour of the zone where the user is",
    arguments: [
      ("Europe/Helsinki", "Europe/Vienna", "2026-06-14", 1), ("Europe/Helsinki", "Europe/Helsinki", "2026-06-14", 0),
      ("Europe/Helsinki", nil, "2026-06-14", 0), ("Asia/Dubai", "Europe/Vienna", "2026-06-14", 0),
      ("Europe/London", "Europe/Vienna", "2026-06-14", 0), ("Europe/Helsinki", "Europe/Vienna", "2026-06-15", 0),
      ("Europe/Vienna", "Europe/Helsinki", "2026-06-14", 1), ("Europe/Vienna", "Europe/Helsinki", "2026-06-15", 0),
      ("Europe/Vienna", "Pacific/Auckland", "2026-06-16", 0), ("Europe/Vienna", nil, "2026-06-14", 1),
    ])
  func movers(zone: String, lastZone: String?, lastDay: String, enrolled: Int) async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'\(zone)'")
    if let lastZone {
      try await scene.database.sql(
        """
        insert into tacet.occasions (fire_at, available_at, fire_date, user_id, campaign, time_zone, status)
        values ('2026-06-14 08:00Z', 'infinity', '\(lastDay)', '\(user)', 'coach', '\(lastZone)', 'skipped')
        """)
    }
    #expect(
      try await scene.database.sql(
        "select enrolled from tacet.enrol_campaign('coach', '2026-06-15 08:00Z', '{Europe/Vienna}')") == "\(enrolled)")
  }

  /// A push at 19:00, of a user whose zone is another than it was; the run's moment is 08:00 in UTC.
  @Test(
    "a push that waits for a time that the user prefers comes at that time of the zone where the user is", .uuidsOnly,
    arguments: [
      ("Europe/Vienna", "America/New_York", "'19:00'", "", "23:00 America/New_York"),
      ("Europe/London", "Europe/Vienna", "'19:00'", "", "17:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "'19:00'", "", "10:00 Asia/Tokyo"),
      ("Europe/Vienna", "Europe/Vienna", "'18:00'", "", "17:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "null", "", "17:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "'19:00'", "attempts = 1", "17:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "'19:00'", "status = 'skipped'", "17:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "'19:00'", "fire_at = '2036-06-16 08:00Z'", "08:00 Europe/Vienna"),
      ("Europe/Vienna", "Asia/Tokyo", "'19:00'", "fire_at = '2036-06-16 08:00:01Z'", "10:00 Asia/Tokyo"),
    ])
  func pendingMovers(lastZone: String, zone: String, time: String, change: String, due: String) async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'\(zone)'")
    try await scene.database.sql(
      """
      create function public.evening_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, local_time time) language sql stable as $$
        select c.user_id, c.time_zone, 1, \(time)::time from public.context_profiles c
      $$;
      update tacet.campaigns set audience = 'public.evening_audience' where name = 'coach';
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, campaign, time_zone)
      select t.due, t.due, '2036-06-16', '\(user)', 'coach', '\(lastZone)'
      from (select tacet.civil_instant('2036-06-16 19:00', '\(lastZone)') as due) t;
      \(change.isEmpty ? "" : "update tacet.occasions set \(change);")
      select tacet.enrol_campaign('coach', '2036-06-16 08:00Z', '{Africa/Abidjan}')
      """)
    let found = try await scene.database.sql(
      "select to_char(fire_at at time zone 'UTC', 'HH24:MI') || ' ' || time_zone from tacet.occasions")
    #expect(found == due)
  }

  @Test("a request enrols a page; runners go on with the rest, each user once, until all are or the campaign is off")
  func requestPages() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<5 { try await scene.addUser() }
    try await withStore(scene.database) { store, reactor in
      let run = try #require(try await store.enrol("coach", onlyUser: nil, usersMax: 2, on: reactor))
      #expect(run.enrolled == 2)
      let open = try #require(try await store.openRequests(on: reactor).first)
      #expect(open.request == run.runID && open.zones == nil)
      #expect(try await store.enrol(open, usersMax: 2, on: reactor) == (2, false))
      #expect(try await store.campaignRun(run.runID, on: reactor)?.isEnrolled == false)
      #expect(try await store.enrol(open, usersMax: 2, on: reactor) == (1, true))
      let status = try await store.campaignRun(run.runID, on: reactor)
      #expect(status?.isEnrolled == true && status?.enrolled == 5)
      #expect(try await store.openRequests(on: reactor).isEmpty)
      #expect(try await store.enrol(open, usersMax: 2, on: reactor) == (0, true))
    }
    #expect(try await scene.database.sql("select count(distinct user_id), count(*) from tacet.occasions") == "5|5")
  }

  @Test("a request that is left is given up after two hours, and at once when its campaign is off")
  func leftRequests() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<3 { try await scene.addUser() }
    try await withStore(scene.database) { store, reactor in
      let run = try #require(try await store.enrol("coach", onlyUser: nil, usersMax: 1, on: reactor))
      for (age, isOpen) in [("1 hour 59 minutes", true), ("2 hours 1 minute", false)] {
        try await scene.database.sql("update tacet.campaign_runs set started_at = now() - interval '\(age)'")
        #expect(try await store.openRequests(on: reactor).isEmpty != isOpen, "\(age)")
        #expect(try await store.campaignRun(run.runID, on: reactor)?.isEnrolled == !isOpen, "\(age)")
      }
      try await scene.database.sql(
        "update tacet.campaign_runs set started_at = now(); update tacet.campaigns set is_active = false")
      let open = try #require(try await store.openRequests(on: reactor).first)
      #expect(try await store.enrol(open, usersMax: 1, on: reactor) == (0, true))
      #expect(try await store.openRequests(on: reactor).isEmpty)
    }
    #expect(try await scene.database.sql("select enrolled from tacet.campaign_runs") == "1")
  }

  @Test("its users are enrolled page by page, by whichever process goes on, those whom the gate keeps back passed over")
  func pages() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<7 { try await scene.addUser(zone: "'UTC'") }
    try await scene.database.sql(
      """
      insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at)
      select gen_random_uuid(), user_id, 'event_based', 'sent', '2026-06-15 01:00Z'
      from (select user_id from context_profiles order by user_id limit 3) u
      """)
    @Sendable func page(_ usersMax: Int = 3) -> String {
      """
      select coalesce(max(enrolled::text || is_finished), 'none')
      from tacet.enrol_campaign('coach', '2026-06-15 10:00Z', '{UTC}', null, \(usersMax))
      """
    }
    let due =
      "select count(*) from tacet.due_hours('coach', '10:00', '2026-06-15 10:05Z') h where 'UTC' = any (h.zones)"
    try await withTwoSessions(scene.database) { first, second, reactor in
      #expect(try await first.value(page(), on: reactor) == "0false")
      #expect(try await second.value(page(), on: reactor) == "3false")
      #expect(try await first.value(due, on: reactor) == "1")
      // One that is killed leaves its page to the next; meanwhile others do not wait for it.
      try await first.run("begin", on: reactor)
      #expect(try await first.value(page(), on: reactor) == "1true")
      #expect(try await second.value(page(), on: reactor) == "none")
      try await first.run("rollback", on: reactor)
      #expect(try await second.value(page(), on: reactor) == "1true")
      #expect(try await first.value(page(), on: reactor) == "none")
      #expect(try await first.value(due, on: reactor) == "0")
    }
    #expect(try await scene.database.sql("select count(distinct user_id), count(*) from tacet.occasions") == "4|4")
    #expect(try await scene.database.sql("select enrolled, finished_at is null from tacet.campaign_runs") == "4|f")
  }

  /// The zones of those whom the hours of a moment would note.
  private func noted(_ scene: CampaignScene, at moment: String) async throws -> String {
    let rows = try await scene.database.sql(
      """
      begin;
      do $$ begin perform \(CampaignScene.enrolDue(at: moment)); end $$;
      select coalesce(string_agg(time_zone, ' ' order by time_zone), '') from tacet.occasions;
      rollback
      """)
    return rows
  }
}

@Suite("A session today keeps campaigns back")
struct CampaignSessionTests {
  /// A user's zone, a moment, and the first and the last moment of the user's day then, the last excluded.
  private static let days: [(zone: String, moment: String, start: String, end: String)] = [
    // 23 hours, and 25.
    ("'America/New_York'", "2026-03-08 15:00+00", "2026-03-08 05:00+00", "2026-03-09 04:00+00"),
    ("'America/New_York'", "2026-11-01 15:00+00", "2026-11-01 04:00+00", "2026-11-02 05:00+00"),
    // Without a midnight: the clock goes from 23:59 to 1:00.
    ("'America/Santiago'", "2025-09-07 15:00+00", "2025-09-07 04:00+00", "2025-09-08 03:00+00"),
    ("'Asia/Kathmandu'", "2026-06-15 04:15+00", "2026-06-14 18:15+00", "2026-06-15 18:15+00"),
    ("'Pacific/Apia'", "2026-06-14 21:00+00", "2026-06-14 11:00+00", "2026-06-15 11:00+00"),
    // Unknown ones are UTC.
    ("null", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
    ("''", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
    ("'Mars/Olympus_Mons'", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
  ]

  @Test("from the first to the last microsecond of the user's own day", arguments: days)
  func edges(_ zone: String, _ moment: String, _ start: String, _ end: String) async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: zone)
    for (began, isEligible) in [
      ("timestamptz '\(start)' - interval '1 us'", true), ("timestamptz '\(start)'", false),
      ("timestamptz '\(end)' - interval '1 us'", false), ("timestamptz '\(end)'", true),
    ] {
      let session = "insert into conversations (owner_id, created_at) values ('\(user)', \(began))"
      #expect(try await scene.isEligible(user, at: moment, after: session) == isEligible, "\(began)")
    }
  }

  @Test("another's session does not; nor does one where the campaign does not ask")
  func others() async throws {
    let scene = try await CampaignScene()
    let (user, other) = (try await scene.addUser(), try await scene.addUser())
    let moment = "2026-06-15 10:00+00"
    let session = "insert into conversations (owner_id, created_at) values ('\(user)', '\(moment)')"
    #expect(try await scene.isEligible(user, at: moment, after: session) == false)
    #expect(try await scene.isEligible(other, at: moment, after: session))
    try await scene.addCampaign("eager", ["needs_no_session": "false"])
    #expect(try await scene.isEligible(user, at: moment, campaign: "eager", after: session))
  }

  @Test("a name that is no zone is UTC for its user, and the run goes on for all others")
  func invalidZone() async throws {
    let scene = try await CampaignScene()
    for zone in ["'Mars/Olympus_Mons'", "'Europe/Berlin'", "null", "'; drop'"] { try await scene.addUser(zone: zone) }
    try await scene.database.sql("select tacet.enrol_campaign('coach', '2026-06-15 10:00+00')")
    let zones = try await scene.database.sql(
      "select string_agg(time_zone, ' ' order by time_zone) from tacet.occasions")
    #expect(zones == "Europe/Berlin UTC UTC UTC")
  }
}
