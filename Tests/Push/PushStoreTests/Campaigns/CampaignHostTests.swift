import Foundation
import Postgres
import PushRules
import TestIDs
import TestPostgres
import Testing

@testable import PushStore

@Suite("Campaigns and their host")
struct CampaignHostTests {
  private static let coachRights = """
    grant select on public.context_profiles, public.pattern_cache to $role;
    create policy context_profiles_service on public.context_profiles for select to $role using (true);
    create policy pattern_cache_service on public.pattern_cache for select to $role using (true);
    """

  @Test("a deleted user's decisions and caps of all groups go with the user; another's stay")
  func deleted() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<2 { try await scene.addUser() }
    try await scene.addCampaign("habit", ["cap_group": "'habit'"])
    let turns = try await scene.claimed()
    for turn in try await turns + scene.claimed(campaign: "habit") { _ = try await scene.commit(turn) }
    #expect(try await scene.database.sql("select count(*) from tacet.frequency_caps") == "4")
    try await scene.database.sql("delete from profiles where id = '\(turns[0].userID)'")
    try await erase(scene.database)
    for table in ["occasions", "frequency_caps", "pushes"] {
      let left = try await scene.database.sql("select distinct user_id from tacet.\(table)")
      #expect(left == turns[1].userID.text, "\(table)")
    }
    #expect(try await scene.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test(
    "a service with a role of its own can do all that a run needs", .uuidsOnly, arguments: ServiceRoleTests.Age.allCases
  )
  func role(_ age: ServiceRoleTests.Age) async throws {
    let database = try await ServiceRoleTests.database(age)
    let scene = try await CampaignScene(in: database)
    try await database.sql(Self.coachRights.replacing("$role", with: try #require(database.role)))
    let user = try await scene.addUser()
    let hour = try await database.sql(
      "select extract(hour from now() at time zone '\(ZoneNearNoon.name)')::int")
    try await withStore(database) { store, reactor in
      #expect(try await store.campaigns(on: reactor).map(\.name) == ["coach"])
      let minutes = (Int(hour) ?? 0) * 60
      let hours = try await store.dueHours(of: "coach", minutes: minutes, on: reactor)
      #expect(hours.count { $0.zones?.contains(ZoneNearNoon.name) == true } == 1)
      for hour in hours + hours { _ = try await store.enrol(hour, usersMax: 10, on: reactor) }
      // In another zone the hour may have come meanwhile.
      let left = try await store.dueHours(of: "coach", minutes: minutes, on: reactor)
      #expect(!left.contains { $0.zones?.contains(ZoneNearNoon.name) == true })
      #expect(try await store.eligible(for: "coach", onlyUser: nil, usersMax: 10, on: reactor).count == 0)
      let run = try #require(try await store.enrol("coach", onlyUser: nil, on: reactor))
      #expect(try await store.campaignRun(run.runID, on: reactor)?.enrolled == 0)
      let turns = try await store.claimTurns(10, lease: .seconds(60), lateAfter: .seconds(7200), on: reactor)
      let turn = try #require(turns.first)
      try await store.release([turn], on: reactor)
      let again = try #require(
        try await store.claimTurns(10, lease: .seconds(60), lateAfter: .seconds(7200), on: reactor).first)
      let situations = try await store.situations(of: [user], in: "coach", at: again, on: reactor)
      #expect(situations[user]?.refusal == nil && situations[user]?.material != nil)
      let limits = ModelUsageLimits(tokensMax: 10, costMicrodollarsMax: 10)
      let question = ModelQuestion(of: user, digest: "a")
      guard
        case .reserved(let reservation) = try await store.reserveModelUsage(
          for: question, tokens: 1, costMicrodollars: 1, within: limits, on: reactor)
      else {
        Issue.record("no model may be asked")
        return
      }
      try await store.settle(reservation, CampaignUsage(), reply: "Hi", on: reactor)
      guard case .committed = try await store.commit(.example, for: again, on: reactor) else {
        Issue.record("refused")
        return
      }
      #expect(try await store.campaignStory(of: user, campaign: "coach", day: nil, on: reactor).days.count == 1)
      for table in PrunedTable.allCases {
        _ = try await store.prune(table.rawValue, olderThan: .seconds(1), on: reactor)
      }
    }
    #expect(try await claim(database).map(\.subject.kind) == ["event_based"])
  }

  @Test("what a campaign is, whose functions are called, is not such a service's to say")
  func reserved() async throws {
    try await ServiceRoleTests.refused(
      [
        "update tacet.campaigns set audience = 'pg_sleep'", "delete from tacet.campaigns", "truncate tacet.campaigns",
        "insert into tacet.campaigns select (k).* from (select null::tacet.campaigns as k) x",
      ], in: try await ServiceRoleTests.database(.after))
  }

  @Test("a host without the coach's tables is migrated; a run is refused, and other campaigns run")
  func withoutTables() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      create function tacet.everybody(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int) language sql stable as $$
        select p.id, null::text, 1 from public.profiles p
      $$;
      insert into tacet.campaigns (name, audience, material, push_types, definition, needs_no_session)
      select 'birthdays', 'tacet.everybody', material, '{birthday}', definition, false from tacet.campaigns where name = 'coach';
      insert into profiles (name) values ('Ada')
      """)
    try await withStore(database) { store, reactor in
      let error = await #expect(throws: PostgresError.self) {
        try await store.enrol("coach", onlyUser: nil, on: reactor)
      }
      #expect(error?.sqlState == "42P01")
      let runs = (
        try await store.enrol("birthdays", onlyUser: nil, on: reactor),
        try await store.enrol("none", onlyUser: nil, on: reactor)
      )
      #expect(runs.0?.enrolled == 1 && runs.1 == nil)
    }
    #expect(try await database.sql("select campaign from tacet.campaign_runs") == "birthdays")
  }

  @Test("the ledger keeps a campaign's words with what wrote them; of a message it keeps neither")
  func ledger() async throws {
    let chat = try await Chat()
    let scene = try await CampaignScene(in: chat.database)
    try await scene.addUser()
    let turn = try #require(try await scene.claimed().first)
    guard case .committed = try await scene.commit(turn) else {
      Issue.record("refused")
      return
    }
    try await chat.register("aa")
    try await chat.send()
    let events = try await claim(chat.database)
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: .sent) }
    let rows = try await chat.database.sql(
      """
      select push_type, content, metadata - 'due_at', (metadata ->> 'due_at')::numeric = \(turn.fireAt)::numeric / 1000000
      from tacet.push_log order by push_type
      """)
    #expect(
      rows == """
        event_based|Tomorrow
        How do you feel?|{"layer": "event", "campaign": "coach"}|t
        message||{}|
        """)
    #expect(try await !scene.isEligible(turn.userID, at: "now"))
  }
}

@Suite("Users of a campaign who keep no other from being noted", .uuidsOnly)
struct CampaignIsolationTests {
  private static let noted = """
    do $$ begin perform tacet.enrol_campaign('coach', clock_timestamp()); end $$;
    select string_agg(user_id::text, ' ' order by user_id::text) from tacet.occasions
    """

  @Test("those whose rows make the gate fail are enrolled with the others of the page, and kept back alone")
  func gate() async throws {
    let scene = try await CampaignScene()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser())
    try await scene.database.sql(
      """
      create or replace function tacet.sessions_between(user_id uuid, first_moment timestamptz, end_moment timestamptz)
      returns table (session_id uuid) language plpgsql stable as $$
      begin
        if user_id = '\(ada)' then raise 'a row of this user'; end if;
      end $$
      """)
    let users = [ada, bob].map { $0.text }.sorted().joined(separator: " ")
    #expect(try await scene.database.sql(Self.noted).hasSuffix(users))
    #expect(try await scene.database.sql("select enrolled from tacet.campaign_runs") == "2")
    for (user, refusal) in [(ada, "eligibility_unknown"), (bob, "")] {
      let found = try await scene.database.sql("select \(CampaignScene.refusal(of: "'{\(user)}'"))")
      #expect(found.split(separator: "\n").last ?? "" == refusal)
    }
  }

  @Test(
    "an hour that is no time, in the ledger's metadata, counts as none", arguments: ["1e300", "-1", "1e11", "\"x\""])
  func strangeHour(_ hour: String) async throws {
    let scene = try await CampaignScene()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser())
    try await scene.database.sql(
      """
      insert into tacet.push_log (user_id, push_type, decision, enqueued_at, sent_at, metadata)
      values ('\(ada)', 'event_based', 'sent', now(), now() - interval '30 hours', '{"due_at": \(hour)}')
      """)
    let users = [ada, bob].map { $0.text }.sorted().joined(separator: " ")
    #expect(try await scene.database.sql(Self.noted).hasSuffix(users))
  }

  @Test("a user about whom the host's function fails is the only one whose push is kept back")
  func failing() async throws {
    let scene = try await CampaignScene()
    let (ada, bob) = (try await scene.addUser(), try await scene.addUser())
    let refusals = try await scene.database.sql(
      """
      create or replace function tacet.sessions_between(user_id uuid, first_moment timestamptz, end_moment timestamptz)
      returns table (session_id uuid) language plpgsql stable as $$
      begin
        if user_id = '\(ada)' then raise exception 'broken'; end if;
      end
      $$;
      select string_agg(coalesce(r.refusal, 'none'), ' ' order by r.place)
      from tacet.campaign_refusals(
        'coach', '{\(bob), \(ada), \(bob)}', array_fill(now(), '{3}'), '{null, null, null}', '{null, null, null}') r
      """)
    #expect(refusals.hasSuffix("\nnone eligibility_unknown none"))
  }

  @Test("a page of nobody whom the campaign considers, or of a campaign that is off, does not end the hour")
  func emptyPages() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<5 { try await scene.addUser(zone: "'UTC'") }
    try await scene.database.sql(
      """
      create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, refusal text)
      language sql stable
      as $$
        select c.user_id, 'UTC', case when row_number() over (order by c.user_id) > 2 then 1 end::int, null
        from public.context_profiles c
      $$
      """)
    func page() async throws -> String {
      try await scene.database.sql(
        """
        select coalesce(max(enrolled::text || is_finished), 'none')
        from tacet.enrol_campaign('coach', '2026-06-15 10:00Z', '{UTC}', null, 2)
        """)
    }
    #expect(try await page() == "0false")
    #expect(try await page() == "2false")
    try await scene.database.sql("update tacet.campaigns set is_active = false")
    #expect(try await page() == "none")
    try await scene.database.sql("update tacet.campaigns set is_active = true")
    #expect(try await page() == "1true")
  }

  @Test("material may come from a table function that is told the user's zone")
  func materialOfZone() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser()
    let material = try await scene.database.sql(
      """
      create function public.told(user_id uuid, moment timestamptz, time_zone text)
      returns table (material jsonb) language sql stable as $$ select jsonb_build_object('zone', told.time_zone) $$;
      update tacet.campaigns set material = 'public.told' where name = 'coach';
      select material ->> 'zone' from tacet.campaign_situations('coach', '{\(user)}');
      select tacet.campaign_material('coach', '\(user)') ->> 'zone'
      """)
    #expect(material == "\(ZoneNearNoon.name)\nUTC")
  }

  @Test("a number of days between pushes may be any", arguments: ["2147483647", "-2147483648", "0"])
  func strangeGap(_ days: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser()
    try await scene.database.sql(
      """
      create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, refusal text) language sql stable as $$
        select p.user_id, p.time_zone, \(days), null from public.context_profiles p
        where only_user is null or p.user_id = only_user
      $$
      """)
    let turn = try await scene.claimed()
    #expect(turn.count == 1)
    #expect(try await scene.commit(try #require(turn.first)) != .refused("eligibility_unknown"))
  }

  /// What is in `auth.users`, and which of two users are looked at.
  @Test(
    "who has no account any more is not looked at, where users have accounts",
    arguments: [
      ("", "ada bob"), ("create schema auth; create table auth.users (id uuid primary key)", "ada bob"),
      (
        "create schema auth; create table auth.users (id uuid); insert into auth.users select gen_random_uuid()",
        "ada bob"
      ),
      ("create schema auth; create table auth.users (id uuid); insert into auth.users select '$bob'", "bob"),
      (
        "create schema auth; create table auth.users (id uuid); insert into auth.users values ('$ada'), ('$bob')",
        "ada bob"
      ),
      ("create schema auth; create table auth.users (email text)", "ada bob"),
    ])
  func accounts(_ sql: String, _ expected: String) async throws {
    let scene = try await CampaignScene()
    let users = ["ada": try await scene.addUser(), "bob": try await scene.addUser()]
    var sql = sql
    for (name, id) in users { sql = sql.replacing("$\(name)", with: id.text) }
    if !sql.isEmpty { try await scene.database.sql(sql) }
    for (name, id) in users {
      #expect(try await scene.isEligible(id, at: "now") == expected.contains(name), "\(name)")
      let refusal = try await scene.database.sql(
        """
        select \(CampaignScene.refusal(of: "'{\(id)}'")) = 'no_account'
        """)
      #expect(refusal == (expected.contains(name) ? "f" : "t"), "\(name)")
    }
  }

  @Test("an account that is deleted while the model writes keeps the push back")
  func deletedMeanwhile() async throws {
    let scene = try await CampaignScene()
    for _ in 0..<2 { try await scene.addUser() }
    try await scene.database.sql(
      "create schema auth; create table auth.users (id uuid); insert into auth.users select id from profiles")
    let turn = try #require(try await scene.claimed().first)
    try await scene.database.sql("delete from auth.users where id = '\(turn.userID)'")
    #expect(try await scene.commit(turn) == .refused("no_account"))
  }
}

@Suite("Whom a campaign looks at")
struct CampaignEligibilityTests {
  /// A Monday, far from any change of clocks in the north.
  private static let moment = "2026-06-15 10:00:00+00"

  @Test("those who clearly asked for it, at a frequency that is known")
  func wishes() async throws {
    let scene = try await CampaignScene()
    let (said, unreadable) = ("no_preference", "preferences_unreadable")
    for (wishes, refusal) in [
      (#"{"check_ins_enabled": true, "frequency": "daily"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "few_times_a_week"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "weekly"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "never"}"#, "never_wanted"),
      (#"{"check_ins_enabled": true, "frequency": "Daily"}"#, unreadable),
      (#"{"check_ins_enabled": true, "frequency": "hourly"}"#, unreadable),
      (#"{"check_ins_enabled": true, "frequency": null}"#, said),
      (#"{"check_ins_enabled": true, "frequency": ["daily"]}"#, unreadable),
      (#"{"check_ins_enabled": true}"#, said),
      (#"{"check_ins_enabled": "true", "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": 1, "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": [true], "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": null, "frequency": "daily"}"#, nil),
      (#"{"check_ins_enabled": false, "frequency": "daily"}"#, nil),
      (#"{"frequency": "daily"}"#, nil), ("{}", nil), ("[]", unreadable), ("true", unreadable), ("null", nil),
    ] {
      let user = try await scene.addUser(wishes)
      #expect(try await scene.isEligible(user, at: Self.moment) == (refusal == ""), "\(wishes)")
      let found = try await scene.database.sql(
        "select coalesce(refusal, '') from tacet.check_in_audience(now(), '\(user)') union all select 'none' limit 1")
      #expect(found == refusal ?? "none", "\(wishes)")
    }
  }

  @Test("those who have a device token that is not invalidated")
  func tokens() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser()
    let another = "insert into push_tokens (user_id, device_token) values ('\(user)', 'aa')"
    for (sql, isEligible) in [
      ("", true), ("delete from push_tokens", false), ("update push_tokens set invalidated_at = now()", false),
      ("update push_tokens set invalidated_at = now(); \(another)", true),
    ] { #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(sql)") }
  }

  @Test("those whose last push is as long ago as they want, to the microsecond of their clock")
  func gaps() async throws {
    let scene = try await CampaignScene()
    for (frequency, days) in [("daily", 1), ("few_times_a_week", 2), ("weekly", 7)] {
      let user = try await scene.addUser(
        #"{"check_ins_enabled": true, "frequency": "\#(frequency)"}"#, zone: "'UTC'")
      for (offset, isEligible) in [(-1, true), (0, true), (1, false)] {
        let sent = "timestamptz '\(Self.moment)' - interval '\(days) days' + interval '\(offset) us'"
        #expect(
          try await scene.isEligible(user, at: Self.moment, after: ledger(user, sent: sent)) == isEligible,
          "\(frequency) \(offset)")
      }
    }
  }

  @Test("a push of a campaign counts from the hour it was written for, and that may come half an hour early")
  func hours() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'UTC'")
    let gap = "timestamptz '\(Self.moment)' - interval '1 day'"
    for (due, isEligible) in [
      ("extract(epoch from \(gap))", true), ("extract(epoch from \(gap) + interval '30 min')", true),
      ("extract(epoch from \(gap) + interval '30 min 1 us')", false),
      // Not a number: as if it were not there.
      ("extract(epoch from \(gap))::text", false), ("null::text", false), ("true", false),
    ] {
      let metadata = "jsonb_build_object('due_at', \(due))"
      let sql = ledger(user, sent: "\(gap) + interval '40 min'", metadata: metadata)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(due)")
    }
  }

  @Test("a day of the user's clock is a day, though it has 23 or 25 hours")
  func unevenDays() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'America/New_York'")
    for (moment, sent) in [
      ("2026-03-08 14:00:00+00", "2026-03-07 15:00:00+00"), ("2026-11-01 15:00:00+00", "2026-10-31 14:00:00+00"),
    ] {
      for (offset, isEligible) in [(0, true), (1, false)] {
        let sql = ledger(user, sent: "timestamptz '\(sent)' + interval '\(offset) us'")
        #expect(try await scene.isEligible(user, at: moment, after: sql) == isEligible, "\(moment) \(offset)")
      }
    }
  }

  @Test("never two on one day of the user's, whatever the hour they were written for")
  func onceADay() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'Asia/Kathmandu'")
    let dayStart = "timestamptz '2026-06-14 18:15:00+00'"
    for (offset, isEligible) in [(-1, true), (0, false), (1, false)] {
      let sql = ledger(
        user, sent: "\(dayStart) + interval '\(offset) us'", metadata: #"'{"due_at": 1}'"#)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(offset)")
    }
    for (day, isEligible) in [("2026-06-14", true), ("2026-06-15", false), ("2026-06-16", false)] {
      let sql =
        "insert into tacet.frequency_caps (user_id, cap_group, committed_day) values ('\(user)', 'check_in', '\(day)')"
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(day)")
    }
  }

  @Test("what was not sent does not count, nor do messages; pushes of all campaigns of the group do")
  func whatCounts() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'UTC'")
    for decision in ["held", "failed", "skipped"] {
      let sql = ledger(user, sent: "null", decision: decision)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql), "\(decision)")
    }
    let now = "timestamptz '\(Self.moment)'"
    #expect(try await scene.isEligible(user, at: Self.moment, after: ledger(user, sent: now, type: "message")))
    let birthday = ledger(user, sent: now, type: "birthday")
    #expect(try await scene.isEligible(user, at: Self.moment, after: birthday))
    try await scene.addCampaign("birthdays", pushTypes: "{birthday}")
    #expect(try await !scene.isEligible(user, at: Self.moment, after: birthday))
    #expect(try await scene.isEligible(HostID.new(), at: Self.moment) == false)
  }

  private func ledger(
    _ user: HostID, sent: String, type: String = "re_engagement", decision: String = "sent", metadata: String = "'{}'"
  ) -> String {
    """
    insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, metadata)
    values (gen_random_uuid(), '\(user)', '\(type)', '\(decision)', \(sent), \(metadata))
    """
  }
}
