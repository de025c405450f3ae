import Postgres
import PushRules
import PushStore
import Reactors
import TestPostgres
import Testing

@testable import Campaigns

@Suite("Slots that users choose")
struct SlotChoiceTests {
  private static func slots(_ morning: String, _ evening: String) -> [UserSlot] {
    [UserSlot(slot: morning, phase: "morning"), UserSlot(slot: evening, phase: "evening")]
  }

  @Test("off cancels what is to come, on brings the window back, and devices are told once in 15 minutes")
  func offAndOn() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    let counts = "select status, reason, count(*) from tacet.occasions group by 1, 2"
    let notices = """
      select count(*), count(*) filter (where i.available_at > now() + interval '14 minutes')
      from tacet.pushes p join tacet.inbox i on i.subject_id = tacet.subject_of(p.id) where p.kind = 'schedule_changed'
      """
    try await scene.withRunner { _, scheduler, _, reactor in
      let window = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      let off = try await scheduler.choose(false, Self.slots("0800", "2000"), of: "ritual", for: user, on: reactor).rows
      #expect(off?.isEmpty == true)
      #expect(try await scene.sql(counts) == "cancelled|switched_off|\(window.count)")
      #expect(try await scene.sql(notices) == "1|0")
      let on = try await scheduler.choose(true, Self.slots("0800", "2000"), of: "ritual", for: user, on: reactor).rows
      #expect(on?.map(\.identifier) == window.map(\.identifier))
      #expect(try await scene.sql(counts) == "scheduled||\(window.count)")
      #expect(try await scene.sql(notices) == "2|1")
      _ = try await scheduler.choose(true, Self.slots("0815", "2000"), of: "ritual", for: user, on: reactor)
      #expect(try await scene.sql(notices) == "2|1")
      #expect(try await scheduler.slots(of: "ritual", for: user, on: reactor)?.slots.map(\.slot) == ["0815", "2000"])
    }
  }

  @Test("a slot that was sent and is moved is not sent again on that day")
  func phases() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { _, scheduler, _, reactor in
      let window = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      let first = try #require(window.first { $0.slot == "0800" })
      try await scene.sql(
        "update tacet.occasions set status = 'sent' where slot = '0800' and fire_date = '\(first.fireDate)'")
      let moved = try #require(
        try await scheduler.choose(true, Self.slots("0801", "2000"), of: "ritual", for: user, on: reactor).rows)
      #expect(!moved.contains { $0.slot == "0801" && $0.fireDate == first.fireDate })
      #expect(moved.filter { $0.slot == "0801" }.count >= 5)
    }
    let phases = """
      select count(*) from (
        select from tacet.occasions where status <> 'cancelled' group by user_id, campaign, phase, fire_date
        having count(*) > 1
      ) n
      """
    #expect(try await scene.sql(phases) == "0")
  }

  @Test("a slot that was not shown and is moved comes at its new time of that day", arguments: ["skipped", "failed"])
  func unshown(status: String) async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { _, scheduler, _, reactor in
      let window = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      let first = try #require(window.first { $0.slot == "0800" })
      try await scene.sql(
        """
        update tacet.occasions set status = '\(status)', reason = 'quiet_hours'
        where slot = '0800' and fire_date = '\(first.fireDate)'
        """)
      let moved = try #require(
        try await scheduler.choose(true, Self.slots("0801", "2000"), of: "ritual", for: user, on: reactor).rows)
      #expect(moved.contains { $0.slot == "0801" && $0.fireDate == first.fireDate })
    }
  }

  @Test("phases are the campaign's, and a campaign is one of slots")
  func refused() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { _, scheduler, _, reactor in
      for (slots, campaign, answer) in [
        ([UserSlot(slot: "0800")], "ritual", SlotChoice.unknownPhase(0)),
        (Self.slots("0800", "2000") + [UserSlot(slot: "1200", phase: "noon")], "ritual", .unknownPhase(2)),
        (Self.slots("0800", "2000"), "coach", .unknownCampaign), (Self.slots("0800", "2000"), "none", .unknownCampaign),
      ] {
        let given = try await scheduler.choose(true, slots, of: campaign, for: user, on: reactor)
        #expect(given == answer)
      }
      #expect(try await scheduler.slots(of: "ritual", for: user, on: reactor)?.slots.count == 2)
    }
  }

  @Test("of more than 64 rows a device gets the soonest 64")
  func most() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.addCampaign(
      "hourly", #"{"slots": [{"slot": "0000"}], "texts": [{"title": "It is {{time}}.", "body": "Now."}]}"#)
    let many = (0..<24).map { UserSlot(slot: ($0 < 10 ? "0" : "") + "\($0)59") }
    try await scene.withRunner { _, scheduler, _, reactor in
      let schedule = try #require(try await scheduler.choose(true, many, of: "hourly", for: user, on: reactor).rows)
      #expect(schedule.count == 64)
      #expect(schedule.allSatisfy { $0.text.title == "It is \($0.localTime.dropFirst(11).prefix(5))." })
      #expect(schedule.map(\.fireAt) == schedule.map(\.fireAt).sorted())
    }
    #expect(Int(try await scene.sql("select count(*) from tacet.occasions")) ?? 0 > 140)
  }

  @Test("a campaign that is off has no rows for devices, and neither has one that the user has disabled")
  func disabled() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { _, scheduler, _, reactor in
      for (change, isEmpty) in [
        ("update tacet.campaigns set is_active = false where name = 'ritual'", true),
        ("update tacet.campaigns set is_active = true where name = 'ritual'", false),
        ("insert into tacet.preferences (user_id, disabled_kinds) values ('\(user)', '{meal}')", false),
        ("update tacet.preferences set disabled_kinds = '{ritual}'", true),
      ] {
        _ = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
        try await scene.sql(change)
        let rows = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
        #expect(rows.isEmpty == isEmpty, "\(change)")
      }
    }
  }

  @Test(
    "a schedule that is read again within thirty seconds is the last one, and later it is rendered anew",
    arguments: [("1 s", "Low Flame"), ("30 s", "Ember")])
  func again(age: String, nickname: String) async throws {
    #expect(CampaignPace().requestPause == .seconds(30))
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { _, scheduler, _, reactor in
      let first = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      try await scene.sql(
        """
        update terrain_profiles set nickname = 'Ember';
        update tacet.schedules set run_at = clock_timestamp() - interval '\(age)'
        """)
      let second = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      #expect(second.map(\.identifier) == first.map(\.identifier))
      #expect(second.allSatisfy { $0.text.title.contains(nickname) })
    }
  }

  @Test("a schedule that is not rendered to its end is rendered by whoever asks next, also at once")
  func unfinished() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.sql(
      """
      create sequence written;
      create function fail_once() returns trigger language plpgsql as $$
      begin
        if nextval('public.written') = 1 then raise 'not now'; end if;
        return new;
      end $$;
      create trigger fail_once before insert on tacet.occasions for each row execute function fail_once()
      """)
    try await scene.withRunner { _, scheduler, _, reactor in
      await #expect(throws: PostgresError.self) {
        try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      }
      let next = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      #expect(!next.isEmpty)
    }
  }

  @Test("days that are not wanted have no rows")
  func weekdays() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    let slots = [UserSlot(slot: "2359", phase: "evening", weekdays: [6, 7])]
    try await scene.withRunner { _, scheduler, _, reactor in
      let schedule = try #require(try await scheduler.choose(true, slots, of: "ritual", for: user, on: reactor).rows)
      #expect(schedule.count == 2)
    }
    #expect(
      try await scene.sql("select distinct extract(isodow from fire_date) >= 6 from tacet.occasions") == "t")
  }

  @Test(
    "what is switched off or moved while it is rendered does not come, that day or later",
    arguments: [(false, "0800"), (true, "0815")], [true, false])
  func meanwhile(choice: (isOn: Bool, slot: String), inBatch: Bool) async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { runner, scheduler, _, reactor in
      await runner.followAudiences(on: reactor)
      // The host's function is asked between the claim and the write.
      try await scene.sql(
        """
        create or replace function tacet.ritual_profile(user_id uuid)
        returns table (terrain_type text, nickname text, is_onboarded boolean) language plpgsql volatile as $$
        begin
          perform tacet.choose_slots('ritual', ritual_profile.user_id, \(choice.isOn),
            '[{"slot": "\(choice.slot)", "phase": "morning", "is_enabled": true}]', '\(ZoneNearNoon.name)', 0);
          return query select 'cold_balanced', 'Ember', true;
        end $$
        """)
      if inBatch {
        try await scene.openLead()
        _ = await runner.prepareAll(on: reactor)
      } else {
        _ = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      }
    }
    let rows = "select count(*) from tacet.occasions where status <> 'cancelled' and slot <> '0815'"
    #expect(try await scene.sql(rows) == "0")
    let slots = "select slot, next_fire_at is null from tacet.slots"
    #expect(try await scene.sql(slots) == "\(choice.slot)|\(choice.isOn ? "f" : "t")")
  }

  @Test("a user who is in the audience no more has no slots; what was chosen rests, and is there again with the user")
  func left() async throws {
    let scene = try await RitualScene()
    let (user, other) = (try await scene.addUser(), try await scene.addUser())
    let slots =
      "select string_agg(slot, ' ' order by slot) from tacet.slots where next_fire_at is not null and user_id ="
    let rows = "select distinct status, reason from tacet.occasions where user_id ="
    try await scene.withRunner { runner, scheduler, _, reactor in
      _ = try await scheduler.schedule(of: other, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      _ = try await scheduler.choose(true, Self.slots("0815", "2000"), of: "ritual", for: user, on: reactor)
      try await scene.sql("update push_tokens set invalidated_at = now()")
      await runner.followAudiences(on: reactor)
      for id in [user, other] {
        #expect(try await scene.sql("\(slots) '\(id)'") == "")
        #expect(try await scene.sql("\(rows) '\(id)'") == "cancelled|not_in_audience")
      }
      #expect(try await scene.sql("select count(*) from tacet.slots where user_id = '\(other)'") == "0")
      try await scene.sql("update push_tokens set invalidated_at = null")
      for id in [user, other] { try await scheduler.userChanged(id, on: reactor) }
      #expect(try await scene.sql("\(slots) '\(user)'") == "0815 2000")
      #expect(try await scene.sql("\(slots) '\(other)'") == "0800 2000")
    }
  }

  @Test(
    "a user whom SQL adds has slots after the next look at the audience, a quarter of an hour after the last",
    arguments: [(CampaignPace().enrolInterval, "2"), (.zero, "4")] as [(Duration, String)])
  func added(interval: Duration, slots: String) async throws {
    #expect(CampaignPace().enrolInterval == .seconds(900))
    let scene = try await RitualScene()
    var pace = CampaignPace()
    pace.enrolInterval = interval
    _ = try await scene.addUser()
    try await scene.withRunner(pace: pace) { runner, _, _, reactor in
      await runner.followAudiences(on: reactor)
      _ = try await scene.addUser()
      await runner.followAudiences(on: reactor)
    }
    #expect(try await scene.sql("select count(*) from tacet.slots") == slots)
  }

  @Test("for a user no device of whom may show anything, nothing is queued until one may")
  func denied() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(devices: 2)
    let counts = "select status, reason, count(*) from tacet.occasions group by 1, 2"
    @Sendable func note(_ place: Int, isDenied: Bool) async throws {
      try await scene.sql(
        """
        select tacet.note_device_permission('\(user)', device_token, \(isDenied), null, clock_timestamp())
        from push_tokens order by device_token offset \(place) limit 1
        """)
    }
    try await scene.withRunner { runner, scheduler, _, reactor in
      let window = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      try await note(0, isDenied: true)
      #expect(try await scene.sql(counts) == "scheduled||\(window.count)")
      try await note(1, isDenied: true)
      #expect(try await scene.sql(counts) == "skipped|permission_denied|\(window.count)")
      // Neither a choice nor the render before the next slot queues anything; that one leaves a row that says why.
      let chosen = try await scheduler.choose(true, Self.slots("0801", "2001"), of: "ritual", for: user, on: reactor)
        .rows
      #expect(chosen == [])
      try await scene.openLead()
      await runner.lookAtSlots(on: reactor)
      #expect(
        try await scene.sql("select count(*) from tacet.occasions where status in ('scheduled', 'armed')") == "0"
      )
      #expect(try await scene.sql("select count(*) from tacet.occasions where slot = '0801'") == "1")
      try await note(1, isDenied: false)
      try await scheduler.userChanged(user, on: reactor)
      #expect(try await scene.sql("select status from tacet.occasions where slot = '0801'") == "scheduled")
    }
  }

  @Test(
    "what devices have armed stays theirs in a zone with the same clock, and not in one with another",
    arguments: [("Europe/Berlin", "armed|1", "0"), ("Europe/London", "scheduled|0", "1")])
  func clock(zone: String, rows: String, notices: String) async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(zone: "Europe/Vienna")
    try await scene.withRunner { _, scheduler, _, reactor in
      _ = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      try await scene.sql(
        """
        update tacet.occasions set status = 'armed', armed_by = (select array_agg(device_token) from push_tokens);
        update push_tokens set time_zone = '\(zone)'
        """)
      try await scheduler.userChanged(user, on: reactor)
    }
    #expect(try await scene.sql("select distinct time_zone from tacet.slots") == zone)
    let found = "select distinct status, cardinality(armed_by), time_zone from tacet.occasions"
    #expect(try await scene.sql(found) == "\(rows)|\(zone)")
    let told = "select count(*) from tacet.pushes where kind = 'schedule_changed'"
    #expect(try await scene.sql(told) == notices)
  }

  @Test("a device's zone that changes moves slots and rows, and each is sent once a day")
  func flight() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(zone: "Europe/Vienna")
    try await scene.withRunner { _, scheduler, _, reactor in
      let vienna = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      let first = try #require(vienna.first)
      try await scene.sql(
        """
        update tacet.occasions set status = 'sent'
        where slot = '\(first.slot)' and fire_date = '\(first.fireDate)';
        update push_tokens set time_zone = 'America/New_York' where user_id = '\(user)';
        """)
      try await scheduler.userChanged(user, on: reactor)
      let newYork = try await scheduler.schedule(of: user, days: 8, rowsMax: 64, deviceToken: nil, on: reactor)
      #expect(!newYork.contains { $0.identifier == first.identifier })
      #expect(Set(newYork.map { $0.localTime.suffix(8) }) == ["08:00:00", "20:00:00"])
      #expect(Set(newYork.map(\.identifier)).count == newYork.count)
    }
    let zones = "select distinct time_zone from tacet.slots where user_id = '\(user)'"
    #expect(try await scene.sql(zones) == "America/New_York")
    let wrong = """
      select count(*) from tacet.occasions
      where status = 'scheduled' and fire_at <> tacet.civil_instant(fire_date + tacet.slot_time(slot), 'America/New_York')
      """
    #expect(try await scene.sql(wrong) == "0")
  }
}

extension SlotChoice {
  fileprivate var rows: [ScheduledRow]? { if case .taken(let rows) = self { rows } else { nil } }
}
