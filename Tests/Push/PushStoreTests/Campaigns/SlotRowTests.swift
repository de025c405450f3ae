import PushRules
import Reactors
import TestPostgres
import Testing

@testable import PushStore

@Suite("Commits of rows of slots")
struct SlotCommitTests {
  /// The commit of the scene's row, and what is left: pushes, those that the row names, the row, devices that are left out.
  private static func commit(_ scene: SlotReportScene) -> String {
    """
    (select count(*) from tacet.commit_occasions('ritual', 'auto', array(
      select jsonb_populate_record(null::tacet.decided_occasion, to_jsonb(d)
        || '{"attempts": 0, "title": "A", "body": "B", "category": "C", "data": {}}')
      from tacet.occasions d)))
    """
  }

  private static let left = """
    select count(p), count(*) filter (where p.id = d.push_id), min(d.status), min(p.excluded_devices)
    from tacet.occasions d left join tacet.pushes p on p.campaign = d.campaign
    """

  @Test(
    "a commit that waits for another change of its row sees the row as it is then",
    arguments: [
      ("update tacet.occasions set armed_by = '{bb}'", "1", "1|1|sent|bb"),
      ("update tacet.occasions set title = 'New'", "1", "1|1|sent|"),
      ("update tacet.occasions set attempts = 1", "0", "0|0|scheduled|"),
      ("update tacet.occasions set status = 'cancelled'", "0", "0|0|cancelled|"),
      ("select tacet.change_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots", "0", "0|0|scheduled|"),
      (
        "select tacet.choose_slots('ritual', user_id, false, '[{\"slot\": \"0800\", \"is_enabled\": true}]', 'UTC', 0) from tacet.slots",
        "0",
        "0|0|cancelled|"
      ),
      ("select tacet.change_slots('ritual', user_id, null, 0) from tacet.slots", "0", "0|0|cancelled|"),
      ("delete from tacet.occasions where slot = '0800'", "0", "0|0||"),
    ])
  func waiting(change: String, committed: String, left: String) async throws {
    let scene = try await SlotReportScene()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      try await first.run("begin; \(change)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(Self.commit(scene), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      let answer = try await later.value(on: reactor)
      #expect(answer == committed)
    }
    let found = try await scene.database.sql(Self.left)
    #expect(found == left)
  }

  @Test(
    "a row whose slot is off or gone is cancelled, however it came to be",
    arguments: [
      "update tacet.slots set is_on = false", "update tacet.slots set is_enabled = false", "delete from tacet.slots",
      "update tacet.slots set slot = '0801'", "update tacet.slots set phase = 'morning'",
      "update tacet.slots set weekdays = '{1,2,3,4,5,6}'", "update tacet.slots set next_fire_at = null",
    ])
  func off(change: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(change)
    #expect(try await scene.database.sql("select \(Self.commit(scene))") == "1")
    #expect(try await scene.database.sql(Self.left) == "0|0|cancelled|")
    #expect(try await scene.database.sql("select reason from tacet.occasions") == "switched_off")
  }

  @Test("a push of a slot may be shown for fifteen minutes from the slot's time on")
  func life() async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql("select \(Self.commit(scene))")
    let life = """
      select extract(epoch from c.life)::int, c.dated_at = d.fire_at
      from tacet.occasions d
      cross join lateral tacet.stored_push_content('ritual', tacet.subject_of(d.push_id)) c
      """
    #expect(try await scene.database.sql(life) == "900|t")
  }

  @Test("of two commits at once one queues the push")
  func atOnce() async throws {
    let scene = try await SlotReportScene()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      try await first.run("begin; select \(Self.commit(scene))", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(Self.commit(scene), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "0")
    }
    #expect(try await scene.database.sql(Self.left) == "1|1|sent|")
  }
}

@Suite("When slots are due")
struct SlotTimesTests {
  /// Slots over both changes of the clock: the moment after which, and the instant.
  @Test(
    "a skipped time is due after the change, a repeated one at its first occurrence",
    arguments: [
      ("0800", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 06:00+00", "2026-03-29"),
      ("1200", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 10:00+00", "2026-03-29"),
      ("1800", "Europe/Vienna", "2026-03-28 18:00+00", "2026-03-29 16:00+00", "2026-03-29"),
      ("0230", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 01:30+00", "2026-03-29"),
      ("0800", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 07:00+00", "2026-10-25"),
      ("1200", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 11:00+00", "2026-10-25"),
      ("1800", "Europe/Vienna", "2026-10-24 18:00+00", "2026-10-25 17:00+00", "2026-10-25"),
      ("0230", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 00:30+00", "2026-10-25"),
      // Between the two occurrences, and a microsecond before the first.
      ("0230", "Europe/Vienna", "2026-10-25 00:45+00", "2026-10-26 01:30+00", "2026-10-26"),
      ("0230", "Europe/Vienna", "2026-10-25 00:29:59.999999+00", "2026-10-25 00:30+00", "2026-10-25"),
      ("0230", "Europe/Vienna", "2026-10-25 00:30+00", "2026-10-26 01:30+00", "2026-10-26"),
      // A day that Samoa did not have.
      ("0800", "Pacific/Apia", "2011-12-29 18:00+00", "2011-12-30 18:00+00", "2011-12-31"),
      // The flight: Vienna, New York, Tokyo.
      ("0800", "Europe/Vienna", "2026-11-24 06:00+00", "2026-11-24 07:00+00", "2026-11-24"),
      ("0800", "America/New_York", "2026-11-24 07:00+00", "2026-11-24 13:00+00", "2026-11-24"),
      ("1800", "Asia/Tokyo", "2026-11-24 13:00+00", "2026-11-25 09:00+00", "2026-11-25"),
    ])
  func clocks(slot: String, zone: String, after: String, fireAt: String, day: String) async throws {
    let database = try await TestDatabase.migrated()
    let next = try await database.sql(
      "select fire_at at time zone 'UTC', fire_date from tacet.next_fire('\(slot)', '\(zone)', '\(after)')")
    #expect(next == "\(fireAt.prefix(16)):00|\(day)")
  }

  @Test("days that are not wanted are left out, and without any nothing is due")
  func weekdays() async throws {
    let database = try await TestDatabase.migrated()
    for (weekdays, day) in [("{1}", "2026-11-30"), ("{2}", "2026-11-24"), ("{7}", "2026-11-29"), ("{}", "")] {
      let next = "select fire_date from tacet.next_fire('0800', 'UTC', '2026-11-23 08:00+00', '\(weekdays)')"
      #expect(try await database.sql(next) == day, "\(weekdays)")
    }
  }

  @Test("a slot is four digits of a day's time", arguments: ["2400", "0860", "800", "08:00", "", "0800 ", "-100"])
  func malformed(slot: String) async throws {
    let database = try await TestDatabase.migrated()
    await #expect(throws: (any Error).self) {
      try await database.sql(
        """
        insert into tacet.slots (user_id, campaign, slot, time_zone)
        values (tacet.lowest_user_id(), 'ritual', '\(slot)', 'UTC')
        """)
    }
  }
}

@Suite("Slots that change while they are rendered")
struct SlotWriteTests {
  /// A user with a slot under a claim, whose row is not written yet.
  private struct Scene {
    let reports: SlotReportScene
    var database: TestDatabase { reports.database }
    var user: HostID { reports.user }

    init() async throws {
      reports = try await SlotReportScene()
      try await database.sql("delete from tacet.occasions; update tacet.slots set attempts = 1")
    }

    /// Writes what was rendered: as the claim's, else as a window of the user.
    func write(asClaim: Bool) -> String {
      """
      (select count(*) from tacet.prepare_occasions('ritual', array[jsonb_populate_record(null::tacet.decided_occasion,
        jsonb_build_object('fire_at', now() + interval '1 hour')
          || '{"user_id": "\(user)", "slot": "0800", "version": 0, "attempts": 1, "fire_date": "2026-11-22", "time_zone": "UTC",
            "title": "A", "body": "B", "category": "C", "data": {}}')], \(asClaim ? "0" : "null")))
      """
    }

    func choose(_ slot: String = "0800", isOn: Bool = true) -> String {
      """
      (select count(tacet.choose_slots('ritual', '\(user)', \(isOn), '[{"slot": "\(slot)", "is_enabled": true}]', 'UTC', 0)::text))
      """
    }

    /// The rows that are to be pushed, of the others that are cancelled, and whether the slot's next row comes after this one.
    func left() async throws -> String {
      try await database.sql(
        """
        select count(*) filter (where status = 'scheduled'), count(*) filter (where status = 'cancelled'),
          exists (select from tacet.slots where slot = '0800' and fire_date > '2026-11-22' and next_fire_at > now() + interval '1 hour')
        from tacet.occasions
        """)
    }
  }

  @Test("a row of the slot as it is, is written, by a claim once", arguments: [true, false])
  func unchanged(asClaim: Bool) async throws {
    let scene = try await Scene()
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == "1")
    #expect(try await scene.left() == "1|0|\(asClaim ? "t" : "f")")
    try await scene.database.sql("delete from tacet.occasions; update tacet.slots set attempts = 2")
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == (asClaim ? "0" : "1"))
  }

  @Test(
    "a row of a slot that was switched off, moved or left behind meanwhile is not written, nor does it come on a later day",
    arguments: ["off", "moved", "zone", "left"], [true, false])
  func changed(change: String, asClaim: Bool) async throws {
    let scene = try await Scene()
    let changes = [
      "off": "select \(scene.choose(isOn: false))", "moved": "select \(scene.choose("0815"))",
      "zone": "select tacet.change_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots",
      "left": "select tacet.change_slots('ritual', user_id, null, 0) from tacet.slots",
    ]
    try await scene.database.sql(changes[change] ?? "")
    let before = try await scene.database.sql("select next_fire_at, fire_date, available_at from tacet.slots")
    #expect(try await scene.database.sql("select \(scene.write(asClaim: asClaim))") == "0")
    #expect(try await scene.left().hasPrefix("0|0|"))
    #expect(try await scene.database.sql("select next_fire_at, fire_date, available_at from tacet.slots") == before)
  }

  @Test(
    "a choice that is not committed yet keeps a write back, whichever of them began first", arguments: [true, false])
  func race(asClaim: Bool) async throws {
    for choosesFirst in [true, false] {
      let scene = try await Scene()
      let calls = [scene.choose(isOn: false), scene.write(asClaim: asClaim)]
      try await withTwoSessions(scene.database) { first, second, reactor in
        try await first.run("begin; select \(calls[choosesFirst ? 0 : 1])", on: reactor)
        let later = Begun.begin(on: reactor) { try await second.value(calls[choosesFirst ? 1 : 0], on: reactor) }
        // A batch passes over slots that are being changed.
        if !(asClaim && choosesFirst) { try await first.awaitBlocked(second, on: reactor) }
        if asClaim && choosesFirst { #expect(try await later.value(on: reactor) == "0") }
        try await first.run("commit", on: reactor)
        _ = try await later.value(on: reactor)
      }
      let left = try await scene.left()
      #expect(left.hasPrefix(choosesFirst ? "0|0|" : "0|1|"))
      #expect(try await scene.database.sql("select next_fire_at is null from tacet.slots") == "t")
    }
  }

  @Test("a slot that is chosen as it is keeps its next row, and what is being rendered counts")
  func same() async throws {
    let scene = try await Scene()
    try await scene.database.sql("update tacet.slots set is_chosen = true")
    let before = try await scene.database.sql("select version, next_fire_at, available_at from tacet.slots")
    try await scene.database.sql("select \(scene.choose())")
    #expect(try await scene.database.sql("select version, next_fire_at, available_at from tacet.slots") == before)
    #expect(try await scene.database.sql("select \(scene.write(asClaim: true))") == "1")
  }

  @Test("a choice by the zone that was read does not move slots back that have moved since")
  func movedBefore() async throws {
    let scene = try await Scene()
    try await scene.database.sql("select tacet.change_slots('ritual', user_id, 'Asia/Tokyo', 0) from tacet.slots")
    try await scene.database.sql("select \(scene.choose("0815"))")
    let slots =
      "select slot, time_zone, next_fire_at = (tacet.next_fire(slot, 'Asia/Tokyo', now())).fire_at from tacet.slots"
    #expect(try await scene.database.sql(slots) == "0815|Asia/Tokyo|t")
  }
}

@Suite("The users of one zone")
struct ZoneSlotTests {
  private static let long = "'AAA+1' || repeat('x', 6000)"

  /// Users with these zones in their profiles and at their devices, as SQL expressions.
  private static let people = [
    ("'Europe/Berlin'", "null"), ("'eUROPE/bERLIN'", "null"), ("'Europe/Berlin '", "null"),
    ("null", "'Europe/Berlin'"), ("null", "'EUROPE/BERLIN'"), ("'Mars/Olympus_Mons'", "'Europe/Berlin'"),
    (long, "'Europe/Berlin'"), ("'Europe/Madrid'", "'Europe/Berlin'"), ("'UTC'", "null"), ("'utc'", "'Europe/Berlin'"),
    ("null", "null"), ("''", "null"), (long, "null"), ("null", long), ("'Gone/Zone'", "null"), ("'Etc/UTC'", "null"),
    ("'FOO+99'", "null"), ("E'\\u0130stanbul'", "null"),
  ]

  /// An audience of the host, which says what is in the profile.
  private static let ownAudience = """
    create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
    returns table (user_id uuid, time_zone text, gap_days int, refusal text) language plpgsql stable as $$
    begin
      return query select p.user_id, p.time_zone, 1, null::text from public.context_profiles p
        where only_user is null or p.user_id = only_user;
    end $$
    """

  @Test(
    "are those of everybody whose zone it is, however it is spelt, and whoever says whom the campaign concerns",
    arguments: [nil, ownAudience], [true, false])
  func partition(audience: String?, isGuarded: Bool) async throws {
    let scene = try await CampaignScene()
    // Noted once, and lost by the server since.
    try await scene.database.sql("insert into tacet.time_zones values ('gone/zone', 'Gone/Zone')")
    for (profile, device) in Self.people {
      let user = try await scene.addUser(zone: profile)
      try await scene.database.sql("update push_tokens set time_zone = \(device) where user_id = '\(user)'")
    }
    let users = try await scene.database.sql(
      """
      \(audience.map { $0 + ";" } ?? "")
      create temp table everybody as select * from \(CampaignScene.page("'2026-06-15 10:00Z'")) p;
      create temp table by_zone as
        select z.name, e.*
        from (select distinct name from tacet.time_zones union select 'Europe/berlin' union select '') z
        cross join lateral \(CampaignScene.page("'2026-06-15 10:00Z', array[z.name], is_guarded => \(isGuarded)")) e;
      select count(*) from everybody;
      select count(*) from (
        (select time_zone, * from everybody except all select * from by_zone)
        union all (select * from by_zone except all select time_zone, * from everybody)) x;
      select string_agg(n, ' ' order by n) from (select name || count(*) as n from by_zone group by name) x
      """)
    let zones =
      audience == nil ? "Etc/UTC1 Europe/Berlin6 Europe/Madrid1 UTC10" : "Etc/UTC1 Europe/Berlin4 Europe/Madrid1 UTC12"
    #expect(users == "\(Self.people.count)\n0\n\(zones)")
  }

  @Test(
    "are looked up page by page with those who live elsewhere; after an error, before anything is looked up for those",
    arguments: [("users_max => 400", "10"), ("is_guarded => true", "100")])
  func reads(_ arguments: String, _ considered: String) async throws {
    let scene = try await CampaignScene()
    let reads = try await scene.database.sql(
      """
      create temp table people as select gen_random_uuid() as id, n from generate_series(1, 4000) n;
      insert into profiles (id, name) select id, 'Ada' from people;
      update people p set n = m.n from (select id, row_number() over (order by id) as n from people) m where m.id = p.id;
      insert into push_tokens (user_id, device_token) select id, encode(sha256(id::text::bytea), 'hex') from people;
      insert into context_profiles (user_id, time_zone, notification_preferences)
        select id, case n % 40 when 0 then 'Europe/Berlin' when 1 then 'europe/madrid' else 'Asia/Tokyo' end,
          '\(CampaignScene.daily)' from people;
      analyze profiles, push_tokens, context_profiles;
      create temp view reads as
        select idx_scan + seq_tup_read as tokens from pg_stat_xact_user_tables where relname = 'push_tokens';
      create temp table earlier as table reads;
      select count(*) from \(CampaignScene.page("'2026-06-15 10:00Z', '{Europe/Berlin}', \(arguments)")) p;
      select r.tokens - e.tokens <= case when \(considered) = 10 then 400 else 100 end from reads r, earlier e
      """)
    #expect(reads == "\(considered)\nt")
  }
}
