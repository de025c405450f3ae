import Cryptography
import FoundationEssentials
import HTTP1
import HTTPTypes
import PushRules
import PushStore
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import API

@Suite("Slots over HTTP")
struct SlotRoutesTests {
  private static let schedule = "/v1/schedule"

  /// Runs a body with rituals and one user of them.
  private static func run(_ body: @Sendable (ServiceRig, String) async throws -> Void) async throws {
    try await ServiceRig.run { (rig) async throws in
      try await rig.makeRituals()
      try await body(rig, try await rig.makeRitualUser())
    }
  }

  @Test("the schedule has a week of both slots, soonest first, under the identifiers of the pushes")
  func schedule() async throws {
    try await Self.run { (rig, user) async throws in
      let answer = try await rig.ask("GET", Self.schedule, as: user)
      #expect(answer.status == 200 && answer.fields["cache-control"] == "private, no-cache")
      let rows = try answer.decode(ScheduleDocument.self).rows
      #expect((12...14).contains(rows.count) && rows.map(\.fire_at) == rows.map(\.fire_at).sorted())
      let row = try #require(rows.first)
      #expect(row.identifier == "ritual.\(row.slot).\(row.fire_date)" && row.thread_id == "ritual.\(row.fire_date)")
      let isThen = "select timestamp '\(row.local_time)' at time zone time_zone = '\(row.fire_at)' from push_tokens"
      #expect(try await rig.psql(isThen) == "t\n" && row.category == "TERRAIN_RITUAL")
      #expect(row.local_time == "\(row.fire_date)T\(row.slot.prefix(2)):\(row.slot.suffix(2)):00")
      #expect(row.data.type == "ritual" && row.data.slot == row.slot && (0..<7).contains(row.data.micro_action))
      let one = try await rig.ask("GET", Self.schedule + "?max=1", as: user).decode(ScheduleDocument.self)
      #expect(one.rows.count == 1)
      let day = try await rig.ask("GET", Self.schedule + "?days=1", as: user).decode(ScheduleDocument.self)
      #expect(day.rows.count <= 2)
      let stranger = try await rig.ask("GET", Self.schedule, as: try await rig.makeUser())
      #expect(stranger.body.contains(#""rows":["#))
    }
  }

  @Test("a schedule that the app has is 304, until it changes")
  func unchanged() async throws {
    try await Self.run { (rig, user) async throws in
      let tag = try #require(try await rig.ask("GET", Self.schedule, as: user).fields["etag"])
      for known in [tag, "W/\(tag)", "\"x\", \(tag) ", "*"] {
        let answer = try await rig.ask("GET", Self.schedule, as: user, fields: ["If-None-Match": known])
        #expect(answer.status == 304 && answer.body.isEmpty && answer.fields["etag"] == tag, "\(known)")
      }
      let body = #"{"enabled": true, "slots": [{"slot": "0900", "phase": "morning"}]}"#
      #expect(try await rig.ask("PUT", "/v1/slots/ritual", as: user, body: body).status == 200)
      for known in [tag, "\"x\"", ""] {
        let answer = try await rig.ask("GET", Self.schedule, as: user, fields: ["If-None-Match": known])
        #expect(answer.status == 200 && answer.fields["etag"] != tag, "\(known)")
      }
    }
  }

  @Test("a kind that the user disables is in no schedule, and devices are told to read theirs again")
  func disabled() async throws {
    try await Self.run { (rig, user) async throws in
      #expect(try await rig.ask("GET", Self.schedule, as: user).decode(ScheduleDocument.self).rows.isEmpty == false)
      // Said twice, nothing has changed.
      for _ in 0..<2 {
        let answer = try await rig.ask("PUT", "/v1/preferences", as: user, body: #"{"disabled_kinds": ["ritual"]}"#)
        #expect(answer.status == 200)
      }
      #expect(try await rig.psql("select count(*) from tacet.pushes where kind = 'schedule_changed'") == "1\n")
      #expect(try await rig.ask("GET", Self.schedule, as: user).decode(ScheduleDocument.self).rows.isEmpty)
    }
  }

  @Test("a choice replaces the slots, and its answer is the new schedule")
  func chosen() async throws {
    try await Self.run { (rig, user) async throws in
      let standard =
        #"{"enabled":true,"slots":[{"enabled":true,"phase":"morning","slot":"0800"},{"enabled":true,"phase":"evening","slot":"2000"}]}"#
      #expect(try await rig.ask("GET", "/v1/slots/ritual", as: user).body == standard)
      let body = """
        {"enabled": true, "slots": [{"slot": "2000", "phase": "evening", "enabled": false},
          {"slot": "0730", "phase": "morning", "weekdays": [7, 1]}]}
        """
      let answer = try await rig.ask("PUT", "/v1/slots/ritual", as: user, body: body)
      #expect(answer.status == 200)
      #expect(Set(try answer.decode(ScheduleDocument.self).rows.map(\.slot)) == ["0730"])
      let stored =
        #"{"enabled":true,"slots":[{"enabled":true,"phase":"morning","slot":"0730","weekdays":[1,7]},{"enabled":false,"phase":"evening","slot":"2000"}]}"#
      #expect(try await rig.ask("GET", "/v1/slots/ritual", as: user).body == stored)
      let off = stored.replacing(#"{"enabled":true,"slots""#, with: #"{"enabled":false,"slots""#)
      let none = try await rig.ask("PUT", "/v1/slots/ritual", as: user, body: off)
      #expect(try none.decode(ScheduleDocument.self).rows.isEmpty)
      #expect(try await rig.ask("GET", "/v1/slots/ritual", as: user).body == off)
    }
  }

  @Test("an Android app or a browser that registers in another zone moves the slots at once")
  func movedZone() async throws {
    try await Self.run { (rig, user) async throws in
      let zones = "select distinct time_zone from tacet.slots"
      #expect(try await rig.ask("GET", Self.schedule, as: user).status == 200)
      #expect(try await rig.psql(zones) == "\(ZoneNearNoon.name)\n")
      let app = #"{"token": "bk3RNwTe3H0:CI2k_HHwgIpo", "time_zone": "Asia/Tokyo"}"#
      #expect(try await rig.ask("PUT", "/v1/fcm/registrations", as: user, body: app).status == 204)
      #expect(try await rig.psql(zones) == "Asia/Tokyo\n")
      let point = Base64URL.encode(P256PrivateKey().publicKey.x963)
      let browser = """
        {"endpoint": "https://updates.push.services.mozilla.com/wpush/v2/a", "time_zone": "America/New_York",
          "keys": {"p256dh": "\(point)", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}
        """
      #expect(try await rig.ask("PUT", "/v1/web-push/subscriptions", as: user, body: browser).status == 200)
      #expect(try await rig.psql(zones) == "America/New_York\n")
    }
  }

  @Test("an unknown campaign, one without slots, and one whose audience the user is not in are 400 and named")
  func unknown() async throws {
    try await Self.run { (rig, user) async throws in
      let body = #"{"enabled": true, "slots": [{"slot": "0900"}]}"#
      let inert = try await rig.makeUser()
      for (campaign, caller) in [("nobody", user), ("coach", user), ("Ritual", user), ("ritual", inert)] {
        for (method, path) in [("GET", ""), ("PUT", ""), ("POST", "/0800/deliver")] {
          let answer = try await rig.ask(
            method, "/v1/slots/\(campaign)\(path)", as: caller, body: method == "PUT" ? body : "")
          #expect(answer.status == 400 && answer.field == "campaign", "\(method) \(campaign): \(answer.body)")
        }
      }
    }
  }

  @Test("what is stored is pushed at once, and again after a minute; an app and another server ask")
  func delivered() async throws {
    try await Self.run { (rig, user) async throws in
      _ = try await rig.ask("GET", Self.schedule, as: user)
      let path = "/v1/slots/ritual/0800/deliver"
      let answer = try await rig.ask("POST", path, as: user)
      #expect(answer.status == 200 && answer.body.contains(#""queued":true"#))
      let pushes = "select kind, data ->> 'slot' from tacet.pushes where kind = 'ritual'"
      #expect(try await rig.psql(pushes) == "ritual|0800\n")
      let again = try await rig.ask("POST", path + "?user_id=\(user)")
      #expect(again.status == 200 && again.body == #"{"queued":false,"reason":"cooldown"}"#)
      try await rig.psql("update tacet.slots set delivered_at = delivered_at - interval '60 s'")
      #expect(try await rig.ask("POST", path + "?user_id=\(user)").body.contains(#""queued":true"#))
      for slot in ["0900", "800", "2400", "abcd"] {
        let answer = try await rig.ask("POST", "/v1/slots/ritual/\(slot)/deliver", as: user)
        #expect(answer.status == 400 && answer.field == "slot", "\(slot)")
      }
    }
  }

  @Test("who may deliver: the user's app without a parameter, and another server with it")
  func callers() async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig) async throws in
      let (path, user) = ("/v1/slots/ritual/0800/deliver", HostID.new().text)
      #expect(try await rig.ask("POST", path + "?user_id=\(user)", as: user).status == 401)
      #expect(try await rig.ask("POST", path).status == 401)
      #expect(try await rig.ask("POST", path + "?user_id=").field == "user_id")
      #expect(try await rig.ask("POST", path + "?user=\(user)", as: user).status == 400)
      #expect(try await rig.ask("POST", path, as: user).status == 503)
      #expect(try await rig.ask("POST", path + "?user_id=\(user)").status == 503)
      for (method, path) in [
        ("GET", Self.schedule), ("GET", "/v1/config"), ("GET", "/v1/slots/ritual"), ("PUT", "/v1/slots/ritual"),
        ("POST", "/v1/actions"), ("POST", "/v1/telemetry"),
      ] {
        #expect(try await rig.ask(method, path, body: method == "GET" ? "" : "{}").status == 401, "\(path)")
      }
    }
  }

  @Test("the configuration has flags and the categories of all campaigns, and an entity tag")
  func configuration() async throws {
    try await Self.run { (rig, user) async throws in
      try await rig.makeCoach()
      try await rig.psql("\\i '\(try IDTypes.tested(Repository.file("db/examples/engagement.sql")).path)'")
      let answer = try await rig.ask("GET", "/v1/config", as: user)
      #expect(answer.status == 200)
      for part in [
        #""scheduler":"auto""#, #""prefetchLeadMinutes":20"#, #""runnerRearm":false"#, #""mode":"online_first""#,
        #""ttlSeconds":86400"#, #""iosCategoryIdentifier":"TS_DAILY""#, #""androidChannelId":"daily_reminders""#,
        #""prefetchRunner":"none""#,
        Self.category("TS_DAILY", ("OPEN", "Open", true)),
        Self.category("TERRAIN_RITUAL", ("DID_THIS", "Did This ✓", false), ("START_RITUAL", "Start Ritual →", true)),
        Self.category("DAILY_CHECK", ("LOG_MOOD", "Log Mood", true), ("QUICK_CHAT", "Chat with Coach", true)),
        Self.category("WORKOUT", ("START_WORKOUT", "Start Workout", true), ("SNOOZE_30", "Remind in 30 min", false)),
        Self.category("MEAL", ("LOG_MEAL", "Log Meal", true), ("QUICK_ADD", "Quick Add", true)),
        Self.category("HYDRATION"), Self.category("ACHIEVEMENT"), Self.category("RE_ENGAGEMENT"),
        #""channels":[{"id":"daily_reminders","name":"Daily reminders","importance":"high"}]"#,
      ] { #expect(answer.body.contains(part), "\(part)") }
      let tag = try #require(answer.fields["etag"])
      #expect(try await rig.ask("GET", "/v1/config", as: user, fields: ["If-None-Match": tag]).status == 304)
    }
  }
}

extension SlotRoutesTests {
  /// A category as the configuration tells it.
  private static func category(_ id: String, _ actions: (id: String, title: String, isForeground: Bool)...) -> String {
    let told = actions.map {
      #"{"id":"\#($0.id)","title":"\#($0.title)","options":[\#($0.isForeground ? #""foreground""# : "")]}"#
    }
    return #"{"id":"\#(id)","actions":[\#(told.joined(separator: ","))]}"#
  }
}

@Suite("Documents of slots")
struct SlotDocumentTests {
  private static func slots(_ count: Int) -> String {
    (0..<count).map { #"{"slot":"\#($0 < 10 ? "0" : "")\#($0)00"}"# }.joined(separator: ",")
  }

  private static func document(_ slot: String) -> String { #"{"enabled":true,"slots":[\#(slot)]}"# }

  @Test(
    "slots that cannot be meant are refused by their name",
    arguments: [
      (#"{"slots":[{"slot":"0800"}]}"#, "enabled"), (#"{"enabled":true}"#, "slots"),
      (#"{"enabled":true,"slots":[]}"#, "slots"), (#"{"enabled":true,"slots":{}}"#, "slots"),
      (#"{"enabled":1,"slots":[{"slot":"0800"}]}"#, "enabled"),
      (#"{"enabled":true,"slots":[{"slot":"0800"}],"zone":"UTC"}"#, "zone"),
      (document(slots(24) + #",{"slot":"2359"}"#), "slots"), (document("{}"), "slots[0].slot"),
      (document(#"{"slot":"8:00"}"#), "slots[0].slot"), (document(#"{"slot":"2400"}"#), "slots[0].slot"),
      (document(#"{"slot":"0860"}"#), "slots[0].slot"), (document(#"{"slot":800}"#), "slots[0].slot"),
      (document(#"{"slot":"08000"}"#), "slots[0].slot"), (document(#"{"slot":"0800\n"}"#), "slots[0].slot"),
      (document(#"{"slot":"0800"},{"slot":"0800"}"#), "slots[1].slot"),
      (document(#"{"slot":"0800","phase":"a"},{"slot":"0900","phase":"a"}"#), "slots[1].phase"),
      (document(#"{"slot":"0800","phase":"Morning"}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","phase":""}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","phase":"\#(String(repeating: "p", count: 33))"}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","weekdays":[]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[0]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[8]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[1,1]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","enabled":"yes"}"#), "slots[0].enabled"),
      (document(#"{"slot":"0800","time_zone":"UTC"}"#), "slots[0].time_zone"),
    ])
  func refused(text: String, field: String) {
    do {
      _ = try RequestContent.decode(SlotsDocument.self, from: Array(text.utf8))
      Issue.record("it was taken: \(text)")
    } catch {
      #expect(error.status == .badRequest && error.extensions.map(\.value) == [.string(field)], "\(text)")
    }
  }

  @Test("as many slots as are allowed are taken, and what is left out has its default")
  func bounds() throws {
    let most = try RequestContent.decode(SlotsDocument.self, from: Array(Self.document(Self.slots(24)).utf8))
    #expect(most.slots.count == 24)
    let phase = String(repeating: "p", count: 32)
    let text = #"{"enabled":false,"slots":[{"slot":"2359","phase":"\#(phase)","weekdays":[7,1]},{"slot":"0000"}]}"#
    let slots = try RequestContent.decode(SlotsDocument.self, from: Array(text.utf8))
    #expect(!slots.enabled)
    #expect(
      slots.slots == [UserSlot(slot: "2359", phase: phase, weekdays: [1, 7]), UserSlot(slot: "0000")])
  }
}

@Suite("Batches of events")
struct TelemetryDocumentTests {
  private static let good: [String: String] = [
    "id": #""6f1f0c52-5f64-4c57-9c8e-2f7f6a1d3b90""#, "code": #""armed""#, "slotId": #""0800""#,
    "identifier": #""ritual.0800.2026-11-22""#, "device_token": #""AA""#, "whenMs": "1795330800000", "attempt": "1",
    "networkState": #""online""#, "tzOffset": "60", "appState": #""killed""#, "timestamp": #""2026-11-21T18:30:00Z""#,
  ]

  /// An event with other members; nil leaves one out.
  private static func event(_ changes: [String: String?] = [:]) -> String {
    let members = good.merging(changes.compactMapValues { $0 }) { $1 }.filter { changes[$0.key] != .some(nil) }
    return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  private static func batch(_ events: [String]) throws -> TelemetryDocument {
    let text = #"{"events":[\#(events.joined(separator: ","))]}"#
    return try RequestContent.decode(TelemetryDocument.self, from: Array(text.utf8))
  }

  @Test("an event is read whole")
  func whole() throws {
    let events = try Self.batch([Self.event(), Self.event(["identifier": nil, "device_token": "null"])]).events
    #expect(events.map(\.code) == [.armed, .armed] && events[0].id.uuidString.hasPrefix("6F1F"))
    #expect(events.map(\.row) == [SlotIdentifier("ritual.0800.2026-11-22"), nil])
    #expect(events.map(\.deviceToken) == ["aa", nil])
  }

  @Test(
    "an event that cannot be used is rejected alone, by its place and field",
    arguments: [
      ("id", #""x""#), ("id", nil), ("code", #""ARMED""#), ("code", #""FETCH_ERROR""#), ("code", "7"), ("code", nil),
      ("slotId", #""8""#), ("slotId", nil), ("identifier", #""ritual.0800""#), ("identifier", "7"),
      ("device_token", #""a""#), ("device_token", #""zz""#), ("whenMs", "-1"), ("whenMs", "32503680000001"),
      ("whenMs", #""x""#), ("whenMs", nil), ("attempt", "-1"), ("attempt", "2147483648"), ("attempt", "1.5"),
      ("networkState", #""wifi""#), ("networkState", nil), ("tzOffset", "1441"), ("tzOffset", "-1441"),
      ("appState", #""asleep""#), ("timestamp", #""yesterday""#), ("timestamp", "-1"), ("timestamp", "32503680000001"),
      ("timestamp", nil), ("text", #""free""#),
    ] as [(String, String?)])
  func rejected(field: String, value: String?) throws {
    let document = try Self.batch([Self.event(), Self.event([field: value]), Self.event()])
    #expect(document.events.count == 2)
    #expect(document.rejections == [TelemetryDocument.Rejection(index: 1, field: field)], "\(value ?? "nil")")
  }

  @Test(
    "the edges are taken",
    arguments: [
      ("whenMs", "0"), ("whenMs", "32503680000000"), ("attempt", "0"), ("attempt", "2147483647"), ("tzOffset", "-1440"),
      ("tzOffset", "1440"), ("timestamp", "0"), ("timestamp", "32503680000000"),
    ])
  func edges(field: String, value: String) throws {
    #expect(try Self.batch([Self.event([field: value])]).rejections == [])
  }

  @Test("what is no event is rejected as a whole")
  func noEvent() throws {
    for text in ["null", "7", "[]", #""armed""#] {
      #expect(try Self.batch([text]).rejections == [TelemetryDocument.Rejection(index: 0, field: nil)], "\(text)")
    }
  }

  @Test("a batch of none and of a hundred is taken, one of 101 and what is no batch are refused")
  func bounds() throws {
    #expect(try Self.batch([]).events.isEmpty)
    #expect(try Self.batch(Array(repeating: "{}", count: 100)).rejections.count == 100)
    #expect(throws: ProblemDetails.self) { try Self.batch(Array(repeating: "{}", count: 101)) }
    for text in ["[]", "{}", #"{"events":{}}"#, #"{"events":[],"more":1}"#, #"{"events":[{]}"#, ""] {
      #expect(throws: ProblemDetails.self, "\(text)") {
        try RequestContent.decode(TelemetryDocument.self, from: Array(text.utf8))
      }
    }
  }

  @Test(
    "a time is never to come and never older than fourteen days",
    arguments: [(0, 0), (1, 0), (-1, -1), (-1_209_600, -1_209_600), (-1_209_601, -1_209_600)] as [(Int64, Int64)])
  func times(seconds: Int64, clamped: Int64) {
    let now: Int64 = 1_795_330_800_000_000
    #expect(ReportTime.clamped(now + seconds * 1_000_000, now: now) == now + clamped * 1_000_000)
  }
}
