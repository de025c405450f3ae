import PushRules
import PushStore
import Reactors
import TestPostgres
import Testing

@testable import Campaigns

@Suite("Rows of slots that are due")
struct SlotRunnerTests {
  /// A user whose rows of both rituals are rendered.
  private static func rendered(
    _ scene: RitualScene, devices: Int = 1, in runner: CampaignRunner, on reactor: isolated Reactor
  ) async throws -> HostID {
    let user = try await scene.addUser(devices: devices)
    // Enrolment is for whole audiences once in a while.
    await runner.lookAtSlots(on: reactor)
    try await scene.openLead()
    await runner.lookAtSlots(on: reactor)
    return user
  }

  @Test(
    "are pushed until the grace is over, and then skipped",
    arguments: [("899.5 s", "sent|"), ("900.1 s", "skipped|too_late")])
  func late(by time: String, outcome: String) async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.makeDue("slot = '0800'", late: time)
      await runner.lookAtSlots(on: reactor)
      #expect(
        try await scene.sql(
          "select status, reason from tacet.occasions where user_id = '\(user)' and slot = '0800'") == outcome)
    }
  }

  @Test(
    "are shown, with the words that devices know, where all devices have armed them, however late", arguments: [1, 2])
  func shown(armed: Int) async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, devices: 2, in: runner, on: reactor)
      try await scene.sql(
        """
        update tacet.occasions set status = 'armed', armed_by = array(
          select device_token from push_tokens order by 1 limit \(armed))
        where slot = '0800'
        """)
      try await scene.makeDue("slot = '0800'", late: "20 min")
      await runner.lookAtSlots(on: reactor)
      let row = try await scene.sql(
        "select status, reason, title is not null from tacet.occasions where user_id = '\(user)' and slot = '0800'")
      #expect(row == (armed == 2 ? "armed||t" : "skipped|too_late|f"))
      #expect(try await scene.sql("select count(*) from tacet.pushes where kind = 'ritual'") == "0")
    }
  }

  @Test("of several of a campaign the last one is pushed")
  func several() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.makeDue("slot = '0800'", late: "10 min")
      try await scene.makeDue("slot = '2000'", late: "5 min")
      await runner.lookAtSlots(on: reactor)
      #expect(try await scene.rows(of: user) == "0800|skipped|too_late\n2000|sent|")
    }
  }

  @Test(
    "are too late after a later one of the campaign, whichever process has pushed that, or when devices have shown it",
    arguments: ["sent", "delivered", "opened", "armed"])
  func older(status: String) async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.makeDue("slot = '0800'", late: "10 min")
      try await scene.sql(
        """
        update tacet.occasions set status = '\(status)', fire_at = now() - interval '5 min', available_at = 'infinity'
        where slot = '2000'
        """)
      await runner.lookAtSlots(on: reactor)
      #expect(try await scene.rows(of: user) == "0800|skipped|too_late\n2000|\(status)|")
    }
  }

  @Test(
    "say why nothing is pushed",
    arguments: [
      ("update push_tokens set invalidated_at = now()", "not_in_audience"),
      (
        """
        insert into tacet.device_permissions (user_id, device_token, is_denied)
        select user_id, device_token, true from push_tokens
        """, "permission_denied"
      ),
      (
        "insert into tacet.preferences (user_id, disabled_kinds) select user_id, '{ritual}' from push_tokens",
        "opted_out"
      ),
      (
        """
        insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy)
        select user_id, (now() at time zone 'UTC' - interval '1 hour')::time,
          (now() at time zone 'UTC' + interval '1 hour')::time, 'UTC', 'hold' from push_tokens
        """, "quiet_hours"
      ),
      ("update tacet.campaigns set cap_group = 'one_a_day'", ""),
    ])
  func refusals(change: String, reason: String) async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      _ = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.sql(change)
      try await scene.makeDue("slot = '0800'")
      await runner.lookAtSlots(on: reactor)
      let rows = "select status, coalesce(reason, '') from tacet.occasions where slot = '0800'"
      #expect(try await scene.sql(rows) == (reason.isEmpty ? "sent|" : "skipped|\(reason)"))
      #expect(try await scene.sql("select count(*) from tacet.pushes") == (reason.isEmpty ? "1" : "0"))
    }
  }

  @Test("a cap group has one push a day")
  func cap() async throws {
    let scene = try await RitualScene()
    try await scene.sql("update tacet.campaigns set cap_group = 'one_a_day' where name = 'ritual'")
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      for slot in ["0800", "2000"] {
        try await scene.makeDue("slot = '\(slot)'")
        await runner.lookAtSlots(on: reactor)
      }
      #expect(try await scene.rows(of: user) == "0800|sent|\n2000|skipped|pushed_today")
    }
  }

  @Test("are prepared and pushed of a campaign that is on for a moment only, before the campaigns are read again")
  func justActive() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      let isActive = "update tacet.campaigns set is_active = %s where name = 'ritual'"
      try await scene.sql(isActive.replacing("%s", with: "false"))
      runner.wake(on: reactor)
      await runner.lookAtSlots(on: reactor)
      try await scene.sql(isActive.replacing("%s", with: "true"))
      try await scene.makeDue("slot = '0800'")
      try await scene.openLead()
      await runner.lookAtSlots(on: reactor)
      #expect(
        try await scene.rows(of: user, "slot, status, reason")
          == "0800|sent|\n0800|scheduled|\n2000|scheduled|\n2000|scheduled|")
    }
  }

  @Test("go to the devices that do not show them already")
  func armed() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, devices: 2, in: runner, on: reactor)
      try await scene.sql(
        """
        update tacet.occasions set status = 'armed', armed_by = (
          select array_agg(device_token) from (select device_token from push_tokens order by 1 limit 1) t)
        where slot = '0800';
        update tacet.occasions set status = 'armed', armed_by = (select array_agg(device_token) from push_tokens)
        where slot = '2000';
        """)
      for slot in ["0800", "2000"] {
        try await scene.makeDue("slot = '\(slot)'")
        await runner.lookAtSlots(on: reactor)
      }
      #expect(try await scene.rows(of: user) == "0800|sent|\n2000|armed|")
      let excluded = "select excluded_devices = (select min(device_token) from push_tokens) from tacet.pushes"
      #expect(try await scene.sql(excluded) == "t")
    }
  }

  @Test("are rendered anew right before the push")
  func fresh() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.sql(
        """
        insert into daily_logs select '\(user)', (now() at time zone '\(ZoneNearNoon.name)')::date - n, now() from generate_series(0, 4) as n
        """)
      try await scene.makeDue("slot = '0800'")
      await runner.lookAtSlots(on: reactor)
      #expect(try await scene.sql("select title from tacet.pushes") == "Day 5 — your Low Flame rhythm")
    }
  }

  @Test("are one process's at a time, and another's when the lease has ended")
  func leases() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, store, reactor in
      _ = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.makeDue("slot = '0800'")
      let first = try await store.claimOccasions(
        10, .slots, waitingMax: 10, lease: .seconds(30), grace: .seconds(900), on: reactor)
      #expect(first.map(\.slot) == ["0800"])
      #expect(
        try await store.claimOccasions(
          10, .slots, waitingMax: 10, lease: .seconds(30), grace: .seconds(900), on: reactor
        )
        .isEmpty)
      try await scene.sql("update tacet.occasions set available_at = now() where slot = '0800'")
      let second = try await store.claimOccasions(
        10, .slots, waitingMax: 10, lease: .seconds(30), grace: .seconds(900), on: reactor)
      #expect(second.map(\.attempts) == [2])
      let text = OccasionWords(title: "A", body: "B", category: "C", data: "{}")
      for (rows, pushes) in [(first, "0"), (second, "1"), (second, "1")] {
        let outcomes = try await store.commit(
          rows.map { DecidedOccasion($0, text) }, of: "ritual", way: "auto", on: reactor)
        #expect(outcomes.isEmpty == (pushes == "0" || rows == second && outcomes.isEmpty))
        #expect(try await scene.sql("select count(*) from tacet.pushes") == pushes)
      }
    }
  }

  @Test(
    "the more rows are due at once, the faster they are pushed, so that few are on their way at a time",
    arguments: [
      (0, 100, 12), (2_000, 100, 12), (2_500, 100, 12), (20_000, 800, 100), (50_000, 2_000, 250), (100_000, 2_000, 250),
    ])
  func pace(due: Int, rowsPerSecond: Int, rowsPerBatch: Int) {
    let pace = CampaignPace()
    #expect(pace.pushesPerSecond(whenDue: due) == rowsPerSecond)
    #expect(pace.pushesPerBatch(at: rowsPerSecond) == rowsPerBatch)
    // 100,000 users of one slot within a minute.
    #expect(due / rowsPerSecond <= 50)
  }

  /// In milliseconds; how long the oldest has waited, in seconds.
  @Test(
    "a batch that keeps the machine busy leaves messages as long for themselves, until it has waited for too long",
    arguments: [
      (30, 125, 0, true, 95), (62, 125, 0, true, 63), (63, 125, 0, true, 63), (125, 125, 0, true, 125),
      (200, 125, 299, true, 200), (200, 125, 300, true, 0), (100, 125, 300, true, 25), (200, 125, 0, false, 0),
      (125, 125, 0, false, 0), (30, 125, 0, false, 95),
    ])
  func messagesFirst(taken: Int, share: Int, waited: Int, hasMessages: Bool, pause: Int) {
    let found = CampaignPace().pause(
      after: .milliseconds(taken), of: .milliseconds(share), waited: .seconds(waited), hasMessages: hasMessages)
    #expect(found == .milliseconds(pause))
  }

  @Test("what is stored is sent on request, and again after a minute")
  func deliver() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, store, reactor in
      let user = try await Self.rendered(scene, in: runner, on: reactor)
      for (slot, answer) in [("0800", "committed"), ("0800", "cooldown"), ("0801", "unknown_slot")] {
        #expect(try await Self.deliver(slot, to: user, by: store, on: reactor) == answer)
      }
      for (age, answer) in [("30 s", "cooldown"), ("60 s", "committed")] {
        try await scene.sql("update tacet.slots set delivered_at = clock_timestamp() - interval '\(age)'")
        #expect(try await Self.deliver("0800", to: user, by: store, on: reactor) == answer)
      }
      for (change, undo, answer) in [
        ("tacet.campaigns set is_active = false", "tacet.campaigns set is_active = true", "campaign_inactive"),
        (
          "tacet.slots set delivered_at = null, next_fire_at = null",
          "tacet.slots set next_fire_at = now() + interval '1 day'", "not_in_audience"
        ),
      ] {
        try await scene.sql("update \(change)")
        #expect(try await Self.deliver("0800", to: user, by: store, on: reactor) == answer)
        try await scene.sql("update \(undo)")
      }
      try await scene.sql("delete from tacet.occasions")
      #expect(try await Self.deliver("2000", to: user, by: store, on: reactor) == "nothing_stored")
      #expect(try await scene.sql("select count(*) from tacet.slots where attempts > 0") == "2")
    }
  }

  private static func deliver(
    _ slot: String, to user: HostID, by store: PushDatabase, on reactor: isolated Reactor
  ) async throws -> String {
    switch try await store.deliver(slot: slot, of: "ritual", for: user, on: reactor) {
    case .queued: "committed"
    case .refused(let reason): reason
    }
  }

  @Test("a user for whom the campaign's function fails does not keep others back")
  func failing() async throws {
    let scene = try await RitualScene()
    try await scene.withRunner { runner, _, _, reactor in
      let user = try await scene.addUser()
      let other = try await Self.rendered(scene, in: runner, on: reactor)
      try await scene.sql(
        """
        create or replace function tacet.ritual_profile(user_id uuid)
        returns table (terrain_type text, nickname text, is_onboarded boolean) language plpgsql stable as $$
        begin
          if ritual_profile.user_id = '\(user)' then raise exception 'broken'; end if;
          return query select 'cold_balanced', 'Ember', true;
        end $$
        """)
      try await scene.makeDue("slot = '0800'")
      await runner.lookAtSlots(on: reactor)
      let status = "select status, reason from tacet.occasions where slot = '0800' and user_id ="
      #expect(try await scene.sql("\(status) '\(user)'") == "failed|material_failed")
      #expect(try await scene.sql("\(status) '\(other)'") == "sent|")
    }
  }
}
