import Cryptography
import FoundationEssentials
import PushRules
import TestIDs
import TestPostgres
import Testing

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

  @Test(
    "parameters are taken as they are meant, or not at all",
    arguments: [
      ("?days=0", "days"), ("?days=8", "days"), ("?days=+7", "days"), ("?days=", "days"), ("?days=7&days=7", "days"),
      ("?max=0", "max"), ("?max=65", "max"), ("?max=6.4", "max"), ("?max=99999999999999999999", "max"),
      ("?device_token=a", "device_token"), ("?device_token=xx", "device_token"), ("?device_token=", "device_token"),
      ("?Days=7", "Days"), ("?limit=7", "limit"), ("?hours=1", "hours"), ("?days=7&hours=1", "hours"),
    ] as [(String, String?)])
  func parameters(query: String, field: String?) async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig) async throws in
      let answer = try await rig.ask("GET", Self.schedule + query, as: HostID.new().text)
      #expect(answer.status == 400 && answer.field == field, "\(answer.body)")
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

  @Test("the configuration has flags and categories, and an entity tag")
  func configuration() async throws {
    try await Self.run { (rig, user) async throws in
      let answer = try await rig.ask("GET", "/v1/config", as: user)
      #expect(answer.status == 200)
      for part in [
        #""scheduler":"auto""#, #""prefetchLeadMinutes":20"#, #""runnerRearm":false"#, #""id":"TS_DAILY""#,
        #"{"id":"DID_THIS","title":"Did This ✓","options":[]}"#, #""options":["foreground"]"#,
        #""channels":[{"id":"daily_reminders","name":"Daily reminders","importance":"high"}]"#,
      ] { #expect(answer.body.contains(part), "\(part)") }
      let tag = try #require(answer.fields["etag"])
      #expect(try await rig.ask("GET", "/v1/config", as: user, fields: ["If-None-Match": tag]).status == 304)
    }
  }
}
