import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

/// A user with two devices, a slot of the campaign `ritual` and a row of it, whose actions are noted in `public.actions`.
struct SlotReportScene: Sendable {
  static let row = SlotIdentifier("ritual.0800.2026-11-22")!

  let chat: Chat
  var database: TestDatabase { chat.database }
  var user: HostID { chat.reader }

  init() async throws {
    chat = try await Chat(readers: 2)
    for (token, place) in [("AA", 0), ("bb", 0), ("cc", 1)] {
      try await chat.register(token, of: chat.readers[place])
    }
    try await database.sql(
      """
      insert into tacet.slots (next_fire_at, fire_date, available_at, user_id, campaign, slot, time_zone)
      values (now() + interval '1 hour', '2026-11-22', now(), '\(user)', 'ritual', '0800', 'UTC');
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, campaign, slot, time_zone)
      select n.at, n.at, '2026-11-22', '\(user)', 'ritual', '0800', 'UTC' from (select now() + interval '1 hour' as at) n;
      create table actions (user_id uuid, action text, day date, moment timestamptz, primary key (user_id, action, day));
      create table calls (at timestamptz default clock_timestamp());
      create function note_action(user_id uuid, action text, day date, moment timestamptz) returns jsonb
      language plpgsql as $$
      begin
        insert into public.calls default values;
        insert into public.actions values (user_id, action, day, moment) on conflict do nothing;
        return jsonb_build_object('days', (select count(*) from public.actions));
      end $$;
      update tacet.campaigns set is_active = true, on_action = 'public.note_action' where name = 'ritual';
      """)
  }

  func report(
    _ action: String = "DID_THIS", id: UUID, row: SlotIdentifier = Self.row, of user: HostID? = nil
  ) async throws -> SlotActionOutcome {
    let report = SlotActionReport(id: id, action: action, row: row, happenedAt: 1_795_330_800_000_000)
    let user = user ?? self.user
    return try await withStore(database) { try await $0.report(report, of: user, on: $1) }
  }

  /// Reports events in one batch. Nil for a user who has reported enough.
  @discardableResult
  func report(_ events: [SlotEvent], of user: HostID? = nil) async throws -> Int? {
    let user = user ?? self.user
    return try await withStore(database) { try await $0.report(events, of: user, on: $1)?.count }
  }

  /// Reports one event of each code, with this token.
  func report(_ codes: SlotEvent.Code..., token: String? = "aa", of user: HostID? = nil) async throws {
    try await report(codes.map { Self.event($0, token: token) }, of: user)
  }

  static func event(
    _ code: SlotEvent.Code, id: UUID = UUID(), token: String? = "aa", row: SlotIdentifier? = Self.row,
    happenedAt: Int64 = Int64(Date().timeIntervalSince1970 * 1_000_000)
  ) -> SlotEvent {
    SlotEvent(id: id, code: code, row: row, deviceToken: token, happenedAt: happenedAt)
  }

  /// Makes the row one that was pushed, and pushed again after a snooze.
  func push() async throws {
    try await database.sql(
      """
      with sent as (
        insert into tacet.pushes (user_id, kind, title, body, campaign, cancel_key)
        values ('\(user)', 'ritual', 'a', 'b', 'ritual', null),
          ('\(user)', 'ritual', 'a', 'b', 'ritual', 'snooze ritual.0800.2026-11-22 \(user)'),
          ('\(user)', 'ritual', 'a', 'b', 'ritual', 'snooze ritual.1200.2026-11-22 \(user)')
        returning id, cancel_key
      ), logged as (
        insert into tacet.push_log (subject_id, user_id, push_type, decision, reason)
        select tacet.subject_of(s.id), '\(user)', 'ritual', 'sent', s.cancel_key from sent s
      )
      update tacet.occasions d set push_id = s.id from sent s where s.cancel_key is null
      """)
  }

  /// The pushes that were opened.
  func opened() async throws -> String {
    try await database.sql(
      "select coalesce(left(reason, 18), 'row') from tacet.push_log where opened and opened_at <= now() order by 1")
  }

  /// The row's state.
  func state() async throws -> String {
    try await database.sql(
      """
      select status, array_to_string(armed_by, ' '), case available_at when 'infinity' then 'never' when fire_at then 'due' end
      from tacet.occasions
      """)
  }

  /// What is known of the devices.
  func permissions() async throws -> String {
    try await database.sql(
      """
      select device_token, array_position(array[\(chat.readers.map { "'\($0)'" }.joined(separator: ", "))]::uuid[], user_id),
        is_denied, tolerance_seconds
      from tacet.device_permissions order by device_token
      """)
  }
}

@Suite("Reported actions")
struct SlotActionReportTests {
  @Test("the campaign's function is called once for an id; a repeated report has the same answer")
  func once() async throws {
    let scene = try await SlotReportScene()
    let id = UUID()
    #expect(try await scene.report(id: id) == .noted(answer: #"{"days": 1}"#))
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.report("OTHER", id: UUID()) == .noted(answer: #"{"days": 2}"#))
    #expect(try await scene.database.sql("select count(*) from calls") == "2")
    let actions = try await scene.database.sql(
      "select user_id, action, day, extract(epoch from moment)::int from actions order by action")
    let user = scene.user.text
    #expect(actions == "\(user)|DID_THIS|2026-11-22|1795330800\n\(user)|OTHER|2026-11-22|1795330800")
    let events = try await scene.database.sql("select code, identifier from tacet.notif_events order by code")
    #expect(events == "DID_THIS|ritual.0800.2026-11-22\nOTHER|ritual.0800.2026-11-22")
  }

  @Test("an action of a notification opens its push, and the one that it was snoozed to")
  func opens() async throws {
    let scene = try await SlotReportScene()
    try await scene.push()
    _ = try await scene.report("SNOOZE_30", id: UUID())
    #expect(try await scene.opened() == "row\nsnooze ritual.0800")
  }

  @Test(
    "as many reports of a user are kept as may be; the next is refused, and a repeated one is answered", .uuidsOnly)
  func enough() async throws {
    let scene = try await SlotReportScene()
    let id = UUID()
    _ = try await scene.report(id: id)
    try await scene.database.sql(
      """
      insert into tacet.notif_events (happened_at, id, user_id, code)
      select now(), gen_random_uuid(), '\(scene.user)', 'armed' from generate_series(1, 4999)
      """)
    #expect(try await scene.report(id: UUID()) == .tooMany)
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.report([SlotReportScene.event(.armed)]) == nil)
    #expect(try await scene.database.sql("select count(*) from tacet.notif_events") == "5000")
    #expect(try await scene.report([SlotReportScene.event(.armed)], of: scene.chat.readers[1]) == 1)
  }

  @Test("an id is of one report, and a repeated one is answered when the row is pruned")
  func other() async throws {
    let scene = try await SlotReportScene()
    let (id, event) = (UUID(), UUID())
    _ = try await scene.report(id: id)
    #expect(try await scene.report("OTHER", id: id) == .otherReport)
    try await scene.report([SlotReportScene.event(.delivered, id: event)])
    #expect(try await scene.report(id: event) == .otherReport)
    try await scene.database.sql("delete from tacet.occasions")
    #expect(try await scene.report(id: id) == .repeated(answer: #"{"days": 1}"#))
    #expect(try await scene.database.sql("select count(*) from calls") == "1")
  }

  @Test("what is no row of the user changes nothing")
  func unknown() async throws {
    let scene = try await SlotReportScene()
    for text in ["ritual.0801.2026-11-22", "ritual.0800.2026-11-23", "coach.0800.2026-11-22"] {
      let row = try #require(SlotIdentifier(text))
      #expect(try await scene.report(id: UUID(), row: row) == .unknownRow, "\(text)")
    }
    #expect(try await scene.report(id: UUID(), of: scene.chat.readers[1]) == .unknownRow)
    let counts = "select (select count(*) from calls), (select count(*) from tacet.notif_events)"
    #expect(try await scene.database.sql(counts) == "0|0")
  }

  @Test("a campaign without a function notes the action; a failing function leaves nothing noted")
  func functions() async throws {
    let scene = try await SlotReportScene()
    try await scene.database.sql("update tacet.campaigns set on_action = 'public.missing'")
    await #expect(throws: PostgresError.self) { _ = try await scene.report(id: UUID()) }
    #expect(try await scene.database.sql("select count(*) from tacet.notif_events") == "0")
    try await scene.database.sql("update tacet.campaigns set on_action = null")
    #expect(try await scene.report(id: UUID()) == .noted(answer: "{}"))
  }

  @Test("two connections that report one id call the function once")
  func atOnce() async throws {
    let scene = try await SlotReportScene()
    let call = """
      tacet.report_slot_action('\(scene.user)', '\(UUID())', 'DID_THIS', 'ritual.0800.2026-11-22', now())
      """
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; select \(call)", on: reactor)
      let later = Begun.begin(on: reactor) {
        try await second.rows("select r.outcome, r.answer from \(call) r", on: reactor)
      }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == #"(repeated,"{""days"": 1}")"#)
    }
    #expect(try await scene.database.sql("select count(*) from calls") == "1")
  }

  @Test(
    "an identifier is of three parts",
    arguments: [
      ("ritual.0800.2026-11-22", true), ("r.0000.2026-02-28", true), ("r.2359.2028-02-29", true),
      ("ritual.2400.2026-11-22", false), ("ritual.0860.2026-11-22", false), ("ritual.800.2026-11-22", false),
      ("ritual.08:00.2026-11-22", false), ("ritual.0800.2026-02-29", false), ("ritual.0800.26-11-22", false),
      ("Ritual.0800.2026-11-22", false), (".0800.2026-11-22", false), ("ritual.0800.2026-11-22.x", false),
      ("ritual.0800", false), ("a.b.0800.2026-11-22", false), ("", false), ("ritual.0800.2026-11-22\n", false),
      ("ritual.0８00.2026-11-22", false),
    ])
  func identifiers(text: String, isOne: Bool) {
    #expect((SlotIdentifier(text)?.text == text) == isOne)
  }
}

@Suite("Reported events of slots")
struct SlotEventReportTests {
  private typealias Scene = SlotReportScene

  @Test("an event counts once, in a batch and over several")
  func once() async throws {
    let scene = try await Scene()
    let ids = (0..<3).map { _ in UUID() }
    #expect(try await scene.report([ids[0], ids[1], ids[0]].map { Scene.event(.dismissed, id: $0) }) == 2)
    #expect(try await scene.report(ids.map { Scene.event(.dismissed, id: $0) }) == 1)
    #expect(try await scene.report(ids.map { Scene.event(.dismissed, id: $0) }, of: scene.chat.readers[1]) == 3)
    let noted = """
      select count(*), min(identifier), min(device_token) from tacet.notif_events where user_id = '\(scene.user)'
      """
    #expect(try await scene.database.sql(noted) == "3|ritual.0800.2026-11-22|aa")
  }

  @Test("an opened notification is an opened push")
  func opened() async throws {
    let scene = try await SlotReportScene()
    try await scene.push()
    try await scene.report(.delivered)
    #expect(try await scene.opened() == "")
    try await scene.report(.opened)
    #expect(try await scene.opened() == "row\nsnooze ritual.0800")
  }

  @Test("what a dropped device has said is forgotten with the next report of the user's")
  func dropped() async throws {
    let scene = try await SlotReportScene()
    for _ in 0..<20 {
      let token = UUID().uuidString.filter { $0 != "-" }.lowercased()
      var device = RegisteredDevice(token: token)
      device.authorization = "denied"
      let denied = device
      let outcome = try await withStore(scene.database) {
        try await $0.register(denied, of: scene.user, devicesMax: 2, on: $1)
      }
      #expect(outcome == .registered)
    }
    #expect(try await scene.permissions().split(separator: "\n").count <= 2)
  }

  @Test("two connections that report one batch count it once")
  func atOnce() async throws {
    let scene = try await Scene()
    let call = """
      tacet.report_slot_events('\(scene.user)', '{\(UUID())}', '{armed}', '{ritual.0800.2026-11-22}', '{aa}', '{"{}"}',
        array[now()])
      """
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; select \(call)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value("(select count(*) from \(call))", on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "0")
    }
    #expect(try await scene.state() == "armed|aa|due")
  }

  @Test("a device arms a row and takes that back; the row is due again when none is left")
  func armed() async throws {
    let scene = try await Scene()
    try await scene.report(.armed, .armed)
    #expect(try await scene.state() == "armed|aa|due")
    try await scene.report(.armed, token: "bb")
    #expect(try await scene.state() == "armed|aa bb|due")
    try await scene.database.sql("update tacet.occasions set available_at = 'infinity'")
    try await scene.report(.cancelled)
    #expect(try await scene.state() == "armed|bb|never")
    try await scene.report(.cancelled)
    #expect(try await scene.state() == "armed|bb|never")
    try await scene.report(.cancelled, token: "bb")
    #expect(try await scene.state() == "scheduled||due")
    try await scene.report(.armed, .cancelled, .armed)
    #expect(try await scene.state() == "armed|aa|due")
  }

  @Test("of what a device did with a row the latest counts, in whatever order that is reported")
  func order() async throws {
    let scene = try await Scene()
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    for (code, token, minutesAgo, expected) in [
      (.cancelled, "aa", 5, "scheduled||due"), (.armed, "aa", 10, "scheduled||due"), (.armed, "bb", 8, "armed|bb|due"),
      (.armed, "aa", 3, "armed|bb aa|due"), (.cancelled, "aa", 4, "armed|bb aa|due"),
      (.cancelled, "aa", 2, "armed|bb|due"),
    ] as [(SlotEvent.Code, String, Int64, String)] {
      try await scene.report([Scene.event(code, token: token, happenedAt: now - minutesAgo * 60_000_000)])
      #expect(try await scene.state() == expected, "\(code) of \(token), \(minutesAgo) minutes ago")
    }
  }

  @Test("a device of another user, an unknown one and another user's event arm nothing")
  func strangers() async throws {
    let scene = try await Scene()
    try await scene.report(.armed, token: "cc")
    try await scene.report(.armed, token: "dd")
    try await scene.report(.armed, token: nil)
    try await scene.report(.armed, token: "aa", of: scene.chat.readers[1])
    try await scene.report(.armed, token: "cc", of: scene.chat.readers[1])
    try await scene.report([Scene.event(.armed, row: nil)])
    #expect(try await scene.state() == "scheduled||due")
    try await scene.report(.permissionDenied, .exactAlarmMissing, token: "cc")
    try await scene.report(.permissionDenied, token: nil)
    #expect(try await scene.permissions() == "")
  }

  @Test("at most 64 devices arm a row", arguments: [63, 64])
  func bound(known: Int) async throws {
    let scene = try await Scene()
    try await scene.database.sql(
      """
      update tacet.occasions
      set status = 'armed', armed_by = array(select 'x' || n from generate_series(1, \(known)) as n)
      """)
    try await scene.report(.armed)
    #expect(try await scene.database.sql("select cardinality(armed_by) from tacet.occasions") == "64")
  }

  @Test(
    "an acknowledgement moves a sent row forward",
    arguments: [
      ("sent", .delivered, "delivered"), ("sent", .opened, "opened"), ("delivered", .opened, "opened"),
      ("delivered", .delivered, "delivered"), ("opened", .delivered, "opened"), ("sent", .dismissed, "sent"),
      ("sent", .armed, "sent"), ("sent", .cancelled, "sent"), ("scheduled", .delivered, "scheduled"),
      ("scheduled", .opened, "scheduled"), ("skipped", .delivered, "skipped"), ("skipped", .armed, "skipped"),
      ("cancelled", .armed, "cancelled"), ("cancelled", .opened, "cancelled"), ("failed", .opened, "failed"),
      ("armed", .delivered, "armed"), ("armed", .storageBusy, "armed"),
    ] as [(String, SlotEvent.Code, String)])
  func forward(status: String, code: SlotEvent.Code, expected: String) async throws {
    let scene = try await Scene()
    try await scene.database.sql("update tacet.occasions set status = '\(status)'")
    try await scene.report(code)
    #expect(try await scene.database.sql("select status from tacet.occasions") == expected)
  }

  @Test("a row that all devices show by themselves is delivered and opened there")
  func shownThere() async throws {
    let scene = try await Scene()
    try await scene.database.sql(
      "update tacet.occasions set status = 'armed', armed_by = '{aa,bb}', available_at = 'infinity'")
    try await scene.report(.delivered)
    #expect(try await scene.database.sql("select status from tacet.occasions") == "delivered")
  }

  @Test("missing permissions are those of the device, until it registers as allowed")
  func permissions() async throws {
    let scene = try await Scene()
    try await scene.report(.exactAlarmMissing)
    try await scene.report(.permissionDenied, token: "bb")
    #expect(try await scene.permissions() == "aa|1|f|600\nbb|1|t|0")
    try await scene.report(.scheduleDenied)
    #expect(try await scene.permissions() == "aa|1|t|600\nbb|1|t|0")
    for (status, isDenied) in [
      (nil, true), ("not_determined", true), ("provisional", false), ("denied", true), ("authorized", false),
    ] as [(String?, Bool)] {
      try await register("aa", status, in: scene)
      #expect(try await scene.permissions() == "aa|1|\(isDenied ? "t" : "f")|600\nbb|1|t|0", "\(status ?? "nil")")
    }
  }

  @Test("a report from before the registration changes no permission, and the next user of a device begins anew")
  func later() async throws {
    let scene = try await Scene()
    try await register("aa", "authorized", in: scene)
    let early = Int64(Date().timeIntervalSince1970 - 3600) * 1_000_000
    try await scene.report([Scene.event(.permissionDenied, row: nil, happenedAt: early)])
    #expect(try await scene.permissions() == "aa|1|f|0")
    try await scene.report(.permissionDenied, .exactAlarmMissing)
    #expect(try await scene.permissions() == "aa|1|t|600")
    let next = scene.chat.readers[1]
    try await register("aa", nil, of: next, in: scene)
    #expect(try await scene.permissions() == "aa|1|t|600")
    try await register("aa", "authorized", of: next, in: scene)
    #expect(try await scene.permissions() == "aa|2|f|0")
  }

  @Test("a log-out forgets what the device may show; that of another user does not")
  func removed() async throws {
    let scene = try await Scene()
    try await scene.report(.permissionDenied)
    for (user, rows) in [(scene.chat.readers[1], "aa|1|t|0"), (scene.user, "")] {
      _ = try await withStore(scene.database) { try await $0.removeDevice("aa", of: user, on: $1) }
      #expect(try await scene.permissions() == rows)
    }
  }

  private func register(_ token: String, _ status: String?, of user: HostID? = nil, in scene: Scene) async throws {
    var device = RegisteredDevice(token: token)
    device.authorization = status
    let (registered, user) = (device, user ?? scene.user)
    _ = try await withStore(scene.database) { try await $0.register(registered, of: user, devicesMax: 10, on: $1) }
  }
}
