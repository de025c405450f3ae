import Foundation
import PushRules
import Reactors
import TestIDs
import TestPostgres
import Testing

@testable import PushStore

/// Orders in which something happens to an occasion: each left the book wrong, or pushed what should not come.
@Suite("What happens to an occasion in another order", .uuidsOnly)
struct OccasionOrderTests {
  /// Commits the scene's row, which is due, and answers what the book says.
  private static func commit(_ scene: SlotReportScene, _ way: String = "auto", refusal: String = "null") async throws
    -> String
  {
    try await scene.database.sql(
      """
      update tacet.occasions set fire_at = now() - interval '1 second', available_at = now() where status in ('scheduled', 'armed');
      select count(c)
      from tacet.occasions d
      cross join lateral tacet.commit_occasions('ritual', '\(way)', array[jsonb_populate_record(null::tacet.decided_occasion,
        to_jsonb(d) || '{"title": "A", "body": "B", "category": "C", "data": {}}'
          || jsonb_build_object('refusal', \(refusal)))]) c
      """)
    return try await book(scene)
  }

  /// What the book says, and the events that wait.
  private static func book(_ scene: SlotReportScene) async throws -> String {
    try await scene.database.sql(
      """
      select d.status, d.reason, (select count(*) from tacet.inbox where kind = 'ritual')
      from tacet.occasions d where d.fire_date = '2026-11-22' order by d.slot
      """)
  }

  private static func choose(_ scene: SlotReportScene, isOn: Bool = true, _ slot: String = "0800") -> String {
    """
    select tacet.choose_slots(
      'ritual', '\(scene.user)', \(isOn), '[{"slot": "\(slot)", "phase": "morning", "is_enabled": true}]', 'UTC', 0)
    """
  }

  @Test(
    "a push that waits is taken back with its slot, and does not come when that is on again", arguments: [false, true])
  func recalled(isClaimed: Bool) async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(
      "update tacet.slots set phase = 'morning'; update tacet.occasions set phase = 'morning'")
    #expect(try await Self.commit(scene) == "sent||1")
    if isClaimed { try await scene.database.sql("update tacet.inbox set is_claimed = true") }
    try await scene.database.sql(Self.choose(scene, isOn: false))
    try await scene.database.sql(Self.choose(scene))
    #expect(try await Self.book(scene) == (isClaimed ? "sent||1" : "cancelled|cancelled|0"))
    let ledger = try await scene.database.sql("select decision, reason, push_type from tacet.push_log")
    #expect(ledger == (isClaimed ? "" : "skipped|cancelled|ritual"))
  }

  @Test("a slot that is moved while its push waits is pushed at the new time")
  func movedSlot() async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(
      "update tacet.slots set phase = 'morning'; update tacet.occasions set phase = 'morning'")
    #expect(try await Self.commit(scene) == "sent||1")
    try await scene.database.sql(Self.choose(scene, "0815"))
    try await scene.database.sql(
      """
      select count(p)
      from tacet.slots s
      cross join lateral tacet.prepare_occasions('ritual', array[jsonb_populate_record(null::tacet.decided_occasion,
        to_jsonb(s) || '{"phase": "morning", "fire_date": "2026-11-22", "time_zone": "UTC", "title": "A", "body": "B",
          "category": "C", "data": {}}' || jsonb_build_object('fire_at', now() + interval '1 minute'))], null) p
      """)
    #expect(try await Self.book(scene) == "cancelled|cancelled|0\nscheduled||0")
  }

  @Test(
    "what the pipeline does not send is none that was sent",
    arguments: [
      ("sent", "skipped", "'expired'", "skipped|expired"), ("sent", "skipped", "'cancelled'", "cancelled|cancelled"),
      ("sent", "failed", "'BadDeviceToken'", "failed|BadDeviceToken"), ("sent", "held", "'retry'", "sent|"),
      ("sent", "sent", "null", "sent|"), ("sent", "skipped", "'shadow'", "sent|"),
      ("delivered", "skipped", "'expired'", "delivered|"), ("opened", "failed", "'Unregistered'", "opened|"),
    ])
  func unsent(status: String, decision: String, reason: String, book: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.push()
    try await scene.database.sql(
      """
      update tacet.occasions set status = '\(status)';
      update tacet.push_log l set decision = '\(decision)', reason = \(reason) from tacet.occasions d where l.subject_id = tacet.subject_of(d.push_id)
      """)
    #expect(try await scene.database.sql("select status, reason from tacet.occasions") == book)
  }

  @Test("a row that no device may show moves with its user")
  func deniedMoves() async throws {
    let scene = try await SlotReportScene()
    let moved = "select status, time_zone, fire_at = '2027-11-22 16:00+00' from tacet.occasions"
    try await scene.database.sql("update tacet.occasions set fire_date = '2027-11-22', fire_at = '2027-11-22 08:00+00'")
    try await scene.report(.permissionDenied, .permissionDenied)
    try await scene.report(.permissionDenied, token: "bb")
    #expect(try await scene.database.sql(moved) == "skipped|UTC|f")
    try await scene.database.sql("select tacet.change_slots('ritual', '\(scene.user)', 'Etc/GMT+8', 0)")
    #expect(try await scene.database.sql(moved) == "skipped|Etc/GMT+8|t")
  }

  @Test("a row moves when its audience says another zone and other slots at once")
  func replacedMoves() async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(
      """
      update tacet.slots set is_chosen = false;
      select tacet.choose_slots('ritual', '\(scene.user)', true,
        '[{"slot": "0800", "is_enabled": true}, {"slot": "0900", "is_enabled": true}]', 'Etc/GMT+8', 0, false)
      """)
    #expect(
      try await scene.database.sql("select status, time_zone, fire_at from tacet.occasions")
        == "scheduled|Etc/GMT+8|2026-11-22 16:00:00+00")
  }

  @Test(
    "what its user has opened on one device is not pushed to the others",
    arguments: [(true, false), (false, false), (true, true), (false, true)])
  func openedBefore(isAction: Bool, isQueued: Bool) async throws {
    let scene = try await SlotReportScene()
    try await scene.report(.armed)
    if isQueued { #expect(try await Self.commit(scene) == "sent||1") }
    try await scene.database.sql(
      "update tacet.occasions set fire_at = timestamptz 'epoch' + interval '1795330800 seconds'")
    let moment: Int64 = 1_795_330_800_000_000
    if isAction {
      _ = try await scene.report(id: UUID())
    } else {
      try await scene.report([SlotReportScene.event(.opened, happenedAt: moment)])
    }
    #expect(try await Self.commit(scene) == "opened||0")
  }

  @Test(
    "ten minutes before its time a device may show it; what was opened earlier was sent on demand",
    arguments: [(600, "opened"), (601, "armed")])
  func openedEarly(seconds: Int, status: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.report(.armed)
    try await scene.database.sql(
      "update tacet.occasions set fire_at = timestamptz 'epoch' + interval '1795330800 seconds'")
    try await scene.report([SlotReportScene.event(.opened, happenedAt: (1_795_330_800 - Int64(seconds)) * 1_000_000)])
    #expect(try await scene.database.sql("select status from tacet.occasions") == status)
  }

  @Test(
    "what all devices show by themselves is shown, whatever speaks against its push",
    arguments: [
      "attempts_exhausted", "campaign_unusable", "content_stale", "material_failed", "too_late", "campaign_inactive",
    ])
  func shown(refusal: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.report(.armed)
    #expect(try await Self.commit(scene, refusal: "'\(refusal)'").contains(refusal))
    try await scene.database.sql("update tacet.occasions set status = 'armed', reason = null, armed_by = '{aa,bb}'")
    #expect(try await Self.commit(scene, refusal: "'\(refusal)'") == "armed||0")
  }

  @Test(
    "and so it is in quiet hours, and when its kind was disabled",
    arguments: [
      ("quiet_start, quiet_end, quiet_zone, quiet_policy", "'00:00', '23:59:59', 'UTC', 'drop'", "quiet_hours"),
      ("disabled_kinds", "'{ritual}'", "opted_out"),
    ])
  func shownUnwanted(columns: String, values: String, reason: String) async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql(
      "insert into tacet.preferences (user_id, \(columns)) values ('\(scene.user)', \(values))")
    try await scene.report(.armed)
    #expect(try await Self.commit(scene) == "skipped|\(reason)|0")
    try await scene.database.sql("update tacet.occasions set status = 'armed', reason = null, armed_by = '{aa,bb}'")
    #expect(try await Self.commit(scene) == "armed||0")
  }

  @Test(
    "what devices alone show is shown where one has armed it", arguments: [("aa", "armed|"), ("", "skipped|too_late")])
  func shownByOne(token: String, book: String) async throws {
    let scene = try await SlotReportScene()
    if !token.isEmpty { try await scene.report(.armed, token: token) }
    #expect(try await Self.commit(scene, "local", refusal: "'too_late'") == "\(book)|0")
  }

  @Test(
    "devices are told when what they have armed does not come, because its campaign is off", arguments: [true, false])
  func campaignOff(isActive: Bool) async throws {
    let scene = try await SlotReportScene()
    try await scene.report(.armed)
    try await scene.database.sql("update tacet.campaigns set is_active = \(isActive) where name = 'ritual'")
    let user = scene.user
    try await withStore(scene.database) { store, reactor in
      let slot = Occasion(
        campaign: "ritual", userID: user, slot: "0800", fireDate: "2026-11-22", fireAt: 0, timeZone: "UTC")
      try await store.advance([slot], of: "ritual", lead: .zero, on: reactor)
    }
    let told = try await scene.database.sql("select count(*) from tacet.inbox where kind = 'schedule_changed'")
    #expect(told == (isActive ? "0" : "1"))
    #expect(try await Self.book(scene) == (isActive ? "armed||0" : "cancelled|campaign_inactive|0"))
  }

  @Test(
    "what was off, or elsewhere, and is as before is armed again, since nobody knows who has armed it",
    arguments: [
      ([], true), (["change_slots('ritual', ?, null, 0)", "change_slots('ritual', ?, 'UTC', 0)"], false),
      (["change_slots('ritual', ?, 'Etc/GMT+8', 0)", "change_slots('ritual', ?, 'UTC', 0)"], false),
    ])
  func armedAgain(changes: [String], isArmed: Bool) async throws {
    let scene = try await SlotReportScene()
    try await scene.report(.armed)
    try await scene.database.sql(
      """
      update tacet.slots set is_chosen = true;
      update tacet.occasions set title = 'A', body = 'B', category = 'C', data = '{}', fire_date = '2027-11-22',
        fire_at = '2027-11-22 08:00Z'
      """)
    let book = "select array_length(armed_by, 1) is not null, fire_at = '2027-11-22 08:00Z' from tacet.occasions"
    let before = try await Self.renderedAt(scene)
    for change in changes {
      try await scene.database.sql("select tacet.\(change.replacing("?", with: "'\(scene.user)'"))")
    }
    try await scene.database.sql(
      """
      select count(p)
      from tacet.slots s
      cross join lateral tacet.prepare_occasions('ritual', array[jsonb_populate_record(null::tacet.decided_occasion,
        to_jsonb(s) || '{"fire_date": "2027-11-22", "fire_at": "2027-11-22 08:00Z", "time_zone": "UTC", "title": "A",
          "body": "B", "category": "C", "data": {}}')], null) p
      """)
    #expect((try await Self.renderedAt(scene) == before) == isArmed)
    #expect(try await scene.database.sql(book) == "\(isArmed ? "t" : "f")|t")
  }

  /// What devices are told of the row's last change.
  private static func renderedAt(_ scene: SlotReportScene) async throws -> Int64? {
    let user = scene.user
    return try await withStore(scene.database) { store, reactor in
      try await store.schedule(of: user, days: 1000, rowsMax: 64, deviceToken: nil, on: reactor).first?.renderedAt
    }
  }

  @Test("a choice and an enrolment at the same time leave what was chosen", arguments: [true, false])
  func entered(choosesFirst: Bool) async throws {
    let scene = try await SlotReportScene()
    let user = scene.user
    try await scene.database.sql(
      """
      delete from tacet.occasions; delete from tacet.slots;
      create function everybody(moment timestamptz, only_user uuid) returns table (user_id uuid, time_zone text, gap_days int)
      language sql stable as $$ select '\(user)'::uuid, 'UTC', 0 where only_user is null or only_user = '\(user)' $$;
      update tacet.campaigns set audience = 'public.everybody' where name = 'ritual'
      """)
    let enrol = """
      (select enrolled from tacet.enrol_slots('ritual', '[{"slot": "0800"}, {"slot": "2000"}]', true, null, 5, 0))
      """
    let choose = "(select count(*) from (\(Self.choose(scene, isOn: false, "0900"))) c)"
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; select \(choosesFirst ? choose : enrol)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(choosesFirst ? enrol : choose, on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      _ = try await later.value(on: reactor)
    }
    #expect(try await scene.database.sql("select slot, is_on from tacet.slots order by slot") == "0900|f")
  }

  @Test("a host's function that cannot note the push of one user costs that user's push alone")
  func unnoted() async throws {
    let scene = try await SlotReportScene()
    let users = scene.chat.readers
    try await scene.database.sql(
      """
      delete from tacet.occasions;
      create function noted(user_id uuid, moment timestamptz) returns void language plpgsql as $$
      begin
        if user_id = '\(users[0])' then raise 'not this one'; end if;
        insert into public.calls default values;
      end $$;
      create function everybody(moment timestamptz, only_user uuid) returns table (user_id uuid, time_zone text, gap_days int)
      language sql stable as $$ select only_user, 'UTC', 0 $$;
      update tacet.campaigns set is_active = true, on_push = 'public.noted', audience = 'public.everybody', cap_group = null
      where name = 'lapse';
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, campaign, time_zone)
      select now(), now(), (now() at time zone 'UTC')::date, u, 'lapse', 'UTC' from unnest('{\(users[0]),\(users[1])}'::uuid[]) u
      """)
    let ends = try await scene.database.sql(
      """
      select c.place, c.status, c.reason
      from tacet.commit_occasions('lapse', 'push', array(
        select jsonb_populate_record(null::tacet.decided_occasion, to_jsonb(d)
          || '{"push_type": "re_engagement", "title": "A", "body": "B", "category": "", "data": {}}')
        from tacet.occasions d
        order by array_position('{\(users[0]),\(users[1])}'::uuid[], d.user_id))) c
      order by c.place
      """)
    #expect(ends.hasSuffix("\n1|failed|on_push_failed\n2|sent|"))
    #expect(
      try await scene.database.sql("select (select count(*) from calls), (select count(*) from tacet.pushes)") == "1|1")
  }
}
