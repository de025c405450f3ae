import Channels
import Foundation
import PushRules
import Reactors
import TestIDs
import Testing

@Suite("Reports of apps over HTTP")
struct ReportRoutesTests {
  private struct Answer: Decodable {
    struct Rejection: Decodable, Equatable {
      let index: Int
      let field: String?
    }

    let accepted: Int
    let duplicates: Int
    let rejected: [Rejection]
  }

  private static func action(
    _ identifier: String, id: String = UUID().uuidString, action: String = "DID_THIS", at offset: TimeInterval = 0
  ) -> String {
    let at = Date(timeIntervalSinceNow: offset).formatted(.iso8601)
    return #"{"id": "\#(id)", "action": "\#(action)", "identifier": "\#(identifier)", "at": "\#(at)"}"#
  }

  private static func event(
    _ code: String, id: String = UUID().uuidString, identifier: String? = nil, token: String = "aa"
  ) -> String {
    """
    {"id": "\(id)", "code": "\(code)", "slotId": "0800", \(identifier.map { "\"identifier\": \"\($0)\"," } ?? "")
    "device_token": "\(token)", "whenMs": 1795330800000, "attempt": 1, "networkState": "offline", "tzOffset": 0,
    "appState": "background", "timestamp": \(Int(Date().timeIntervalSince1970 * 1000))}
    """
  }

  private static func report(_ events: [String], as user: String, in rig: ServiceRig) async throws -> Answer {
    let body = #"{"events": [\#(events.joined(separator: ","))]}"#
    let answer = try await rig.ask("POST", "/v1/telemetry", as: user, body: body)
    #expect(answer.status == 200, "\(answer.body)")
    return try answer.decode(Answer.self)
  }

  /// Runs a body with rituals, one user of them, and the user's schedule.
  private static func run(
    _ body: @Sendable (ServiceRig, String, [ScheduleDocument.Row]) async throws -> Void
  ) async throws {
    try await ServiceRig.run { (rig) async throws in
      try await rig.makeRituals()
      let user = try await rig.makeRitualUser()
      let rows = try await rig.ask("GET", "/v1/schedule", as: user).decode(ScheduleDocument.self).rows
      try await body(rig, user, rows)
    }
  }

  @Test("DID_THIS answers the streak, a repeated report the same, and what is said later knows of it")
  func completed() async throws {
    try await Self.run { (rig, user, rows) async throws in
      let row = try #require(rows.first)
      try await rig.psql(
        """
        insert into daily_logs (user_id, day, micro_action_completed_at)
        select '\(user)', date '\(row.fire_date)' - n, now() from generate_series(1, 3) as n
        """)
      let body = Self.action(row.identifier)
      for _ in 0..<2 {
        let answer = try await rig.ask("POST", "/v1/actions", as: user, body: body)
        #expect(answer.status == 200 && answer.body == #"{"streak": 4}"#)
      }
      let told = "select count(*) from tacet.pushes where kind = 'schedule_changed'"
      #expect(try await rig.psql(told) == "1\n")
      let after = try await rig.ask("GET", "/v1/schedule", as: user).decode(ScheduleDocument.self).rows
      #expect(after.map(\.identifier) == rows.map(\.identifier))
      #expect(Set(after.map(\.title)) == ["Day 4 — your Low Flame rhythm", "Day 4 — wind-down time"])
      try await rig.awaitActivity(of: user)
      let noted = """
        select count(*) from daily_logs where day = '\(row.fire_date)' and micro_action_completed_at is not null
        """
      #expect(try await rig.psql(noted) == "1\n")
      #expect(try await rig.psql("select count(*) from tacet.notif_events") == "1\n")
      let other = try await rig.ask(
        "POST", "/v1/actions", as: user, body: body.replacing("DID_THIS", with: "START_RITUAL"))
      #expect(other.status == 422 && other.field == "id")
      let start = Self.action(row.identifier, action: "START_RITUAL")
      #expect(try await rig.ask("POST", "/v1/actions", as: user, body: start).body == "{}")
    }
  }

  /// What devices have armed, what changes then, the row's end, and the devices that get a push.
  @Test(
    "a row that devices show by themselves is pushed to the others, unless it has changed since, as the way says",
    arguments: [
      ("auto", [], false, "sent|", ["aa", "bb"]), ("auto", ["aa"], false, "sent|", ["bb"]),
      ("auto", ["aa", "bb"], false, "armed|", []), ("auto", ["aa", "bb"], true, "sent|", ["aa", "bb"]),
      ("local", [], false, "skipped|not_armed", []), ("local", ["aa"], false, "armed|", []),
      ("local", ["aa"], true, "skipped|not_armed", []), ("push", ["aa"], false, "sent|", ["aa", "bb"]),
    ] as [(String, [String], Bool, String, [String])])
  func ways(way: String, armed: [String], isChanged: Bool, end: String, pushed: [String]) async throws {
    try await Self.run { (rig, user, rows) async throws in
      let row = try #require(rows.first).identifier
      try await rig.psql(
        """
        update tacet.campaigns set definition = jsonb_set(definition, '{way}', '"\(way)"') where name = 'ritual';
        insert into push_tokens (user_id, device_token) values ('\(user)', 'bb')
        """)
      let events = armed.map { Self.event("armed", identifier: row, token: $0) }
      #expect(try await Self.report(events, as: user, in: rig).accepted == armed.count)
      if isChanged {
        try await rig.psql("update terrain_profiles set nickname = 'Ember'; delete from tacet.schedules")
        #expect(try await rig.ask("GET", "/v1/schedule", as: user).body.contains("Ember"))
      }
      let isRow = "campaign || '.' || slot || '.' || fire_date = '\(row)'"
      try await rig.psql(
        "update tacet.occasions set fire_at = clock_timestamp(), available_at = clock_timestamp() where \(isRow)")
      rig.startPipeline()
      rig.startCampaigns()
      let found = "select status, reason from tacet.occasions where \(isRow) and available_at"
      try await rig.wait(for: "f", to: "select exists (\(found) < 'infinity' and status in ('scheduled', 'armed'))")
      #expect(try await rig.psql("\(found) is not null") == end + "\n")
      let decided = "select count(*) from tacet.push_log where push_type = 'ritual' and decision = 'sent'"
      if end == "sent|" { try await rig.wait(for: "1", to: decided) }
      let devices = await rig.parts.perform { parts, _ in
        parts.channel.requests.filter { $0.collapseIdentifier?.text == row }.map(\.deviceToken.hexadecimal)
      }
      #expect(devices.sorted() == pushed)
      let sentences = [
        "sent|": "A push was sent.", "armed|": "without a push.",
        "skipped|not_armed": "none has reported that it will.",
      ]
      let told = try await rig.ask("GET", "/v1/explain?campaign=ritual&user_id=\(user)").body
      #expect(told.contains(try #require(sentences[end])), "\(told)")
    }
  }

  @Test("an action that cannot be meant is refused by the name of what is wrong")
  func refused() async throws {
    try await Self.run { (rig, user, rows) async throws in
      let known = try #require(rows.first).identifier
      let day = 86_400.0
      let cases: [(String, String?)] = [
        (Self.action(known, id: "7"), "id"), (Self.action(known, action: ""), "action"),
        (Self.action(known, action: String(repeating: "A", count: 65)), "action"),
        (Self.action(known, action: "DID THIS"), "action"), (Self.action("ritual.0800"), "identifier"),
        (Self.action("ritual.0800.2026-02-30"), "identifier"), (Self.action("nobody.0800.2026-11-22"), "identifier"),
        (Self.action("ritual.0801.\(known.suffix(10))"), "identifier"), (Self.action(known, at: 120), "at"),
        (Self.action(known, at: -14 * day - 60), "at"),
        (Self.action(known).replacing("\"at\"", with: "\"when\""), "when"), ("{}", "id"), ("[]", nil),
      ]
      for (body, field) in cases {
        let answer = try await rig.ask("POST", "/v1/actions", as: user, body: body)
        #expect(answer.status == 400 && answer.field == field, "\(body): \(answer.body)")
      }
      let stranger = try await rig.ask("POST", "/v1/actions", as: try await rig.makeUser(), body: Self.action(known))
      #expect(stranger.status == 400 && stranger.field == "identifier")
      #expect(try await rig.psql("select count(*) from tacet.notif_events") == "0\n")
      for body in [
        Self.action(known, action: String(repeating: "A", count: 64)), Self.action(known, at: 30),
        Self.action(known, at: -14 * day + 60),
      ] { #expect(try await rig.ask("POST", "/v1/actions", as: user, body: body).status == 200, "\(body)") }
      let late = "select count(*) from tacet.notif_events where happened_at > now()"
      #expect(try await rig.psql(late) == "0\n")
    }
  }

  @Test("events are counted, known ones too, and what cannot be used is rejected with its place")
  func counted() async throws {
    try await Self.run { (rig, user, rows) async throws in
      let id = UUID().uuidString
      let events = [
        Self.event("armed", id: id, identifier: rows[0].identifier), Self.event("EXPLODED"),
        Self.event("opened", id: id, identifier: rows[0].identifier), Self.event("dismissed"), "7",
      ]
      let answer = try await Self.report(events, as: user, in: rig)
      #expect(answer.accepted == 2 && answer.duplicates == 1)
      #expect(answer.rejected == [.init(index: 1, field: "code"), .init(index: 4, field: nil)])
      let armed = """
        select campaign || '.' || slot || '.' || fire_date from tacet.occasions where armed_by = '{aa}'
        """
      #expect(try await rig.psql(armed) == rows[0].identifier + "\n")
      let known = try await rig.ask("GET", "/v1/schedule", as: user).decode(ScheduleDocument.self)
      #expect(known.rows.map(\.identifier) == rows.map(\.identifier))
      #expect(try await Self.report(events, as: user, in: rig).duplicates == 3)
      #expect(try await Self.report([], as: user, in: rig).accepted == 0)
    }
  }

  @Test("a batch has at most a hundred events and 64 KiB")
  func bounds() async throws {
    try await ServiceRig.run { (rig) async throws in
      let user = try await rig.makeUser()
      let hundred = (0..<100).map { _ in Self.event("dismissed") }
      #expect(try await Self.report(hundred, as: user, in: rig).accepted == 100)
      let more = #"{"events": [\#((hundred + [Self.event("dismissed")]).joined(separator: ","))]}"#
      let answer = try await rig.ask("POST", "/v1/telemetry", as: user, body: more)
      #expect(answer.status == 400 && answer.field == "events")
      let one = #"{"events": [\#(Self.event("dismissed"))]}"#
      for (size, status) in [(64 * 1024, 200), (64 * 1024 + 1, 413)] {
        let body = one + String(repeating: " ", count: size - one.utf8.count)
        #expect(try await rig.ask("POST", "/v1/telemetry", as: user, body: body).status == status)
      }
    }
  }

  @Test("everything that an event must say is kept")
  func kept() async throws {
    try await Self.run { (rig, user, _) async throws in
      let envelope = """
        {"id": "3d7f3f1e-0d0f-4c3b-8a50-4b1f6f2c9e01", "code": "STORAGE_BUSY", "slotId": "0800", "whenMs": 1795330800000,
        "attempt": 2, "networkState": "offline", "tzOffset": -300, "appState": "background", "timestamp": \(Self.now)}
        """
      #expect(try await Self.report([envelope], as: user, in: rig).accepted == 1)
      let row = try await rig.psql(
        "select code, (extract(epoch from happened_at) * 1000)::bigint, circumstances from tacet.notif_events")
      let circumstances =
        #"{"slotId": "0800", "whenMs": 1795330800000, "attempt": 2, "appState": "background", "tzOffset": -300, "networkState": "offline"}"#
      #expect(row == "STORAGE_BUSY|\(Self.now)|\(circumstances)\n")
    }
  }

  /// Milliseconds since 1970.
  private static let now = Int(Date().timeIntervalSince1970 * 1000)

  @Test("a device without permission gets no rows until it registers as allowed; one without exact alarms gets a hint")
  func permissions() async throws {
    try await Self.run { (rig, user, rows) async throws in
      func schedule(_ token: String) async throws -> ScheduleDocument {
        try await rig.ask("GET", "/v1/schedule?device_token=\(token)", as: user).decode(ScheduleDocument.self)
      }
      _ = try await Self.report([Self.event("EXACT_ALARM_MISSING", token: "AA")], as: user, in: rig)
      let inexact = try await schedule("Aa")
      #expect(inexact.settings_hint && Set(inexact.rows.map(\.tolerance_seconds)) == [600])
      let other = try await schedule("bb")
      #expect(!other.settings_hint && Set(other.rows.map(\.tolerance_seconds)) == [0])
      _ = try await Self.report([Self.event("PERMISSION_DENIED")], as: user, in: rig)
      #expect(try await schedule("aa").rows.isEmpty)
      for (body, count) in [
        ("{}", 0), (#"{"authorization": "not_determined"}"#, 0), (#"{"authorization": "provisional"}"#, rows.count),
        (#"{"authorization": "denied"}"#, 0), (#"{"authorization": "authorized"}"#, rows.count),
      ] {
        #expect(try await rig.ask("PUT", "/v1/devices/AA", as: user, body: body).status == 204)
        #expect(try await schedule("aa").rows.count == count, "\(body)")
      }
      let answer = try await rig.ask("PUT", "/v1/devices/aa", as: user, body: #"{"authorization": "granted"}"#)
      #expect(answer.status == 400 && answer.field == "authorization")
    }
  }
}
