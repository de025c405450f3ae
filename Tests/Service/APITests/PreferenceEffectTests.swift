import FoundationEssentials
import PushRules
import TestIDs
import Testing

@Suite("What preferences do to pushes")
struct PreferenceEffectTests {
  @Test("each wish keeps a message back with its reason, and without it messages come again")
  func wishes() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      try await phone.logIn(user)
      let conversation = HostID.new()
      let wish = #""conversation_id":"\#(conversation)""#
      let documents = [
        (#"{"disabled_kinds":["message"]}"#, "skipped|opted_out"),
        (#"{"conversations":[{\#(wish),"muted":true}]}"#, "skipped|muted"),
        (#"{"conversations":[{\#(wish),"muted":true,"muted_until":"2999-01-01T00:00:00Z"}]}"#, "skipped|muted"),
        (#"{"conversations":[{\#(wish),"mentions_only":true}]}"#, "skipped|not_mentioned"),
        (#"{"conversations":[{\#(wish),"muted":true,"muted_until":"2020-01-01T00:00:00Z"}]}"#, "sent|"),
        ("{}", "sent|"),
      ]
      for (document, expected) in documents {
        #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: document).status == 200)
        let message = try await phone.write(to: user, in: conversation)
        #expect(try await phone.decision(on: message) == expected, "\(document)")
      }
      #expect(await phone.shown().count == 2)
    }
  }

  @Test("a mention comes through to somebody who wants nothing else")
  func mentioned() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      try await phone.logIn(user)
      let conversation = HostID.new()
      let document = #"{"conversations":[{"conversation_id":"\#(conversation)","mentions_only":true}]}"#
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: document).status == 200)
      let message = try await phone.write(to: user, in: conversation, "Are you there, @ann?")
      #expect(try await phone.decision(on: message) == "sent|")
    }
  }

  @Test("quiet hours hold in the device's own time zone, and whoever ends them gets what was held at once")
  func quietHours() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      #expect(
        try await rig.ask("PUT", "/v1/devices/\(phone.token)", as: user, body: #"{"time_zone":"Asia/Kathmandu"}"#)
          .status
          == 204)
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "hold")).status == 200)
      let held = try await phone.write(to: user)
      #expect(try await phone.decision(on: held) == "held|quiet_hours")
      #expect(await phone.shown() == [])
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "drop")).status == 200)
      try await phone.settled(held)
      #expect(try await phone.decision(on: held) == "skipped|quiet_hours")
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "hold")).status == 200)
      let next = try await phone.write(to: user)
      #expect(try await phone.decision(on: next) == "held|quiet_hours")
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: "{}").status == 200)
      try await phone.settled(next)
      #expect(await phone.shown() == [next])
    }
  }

  /// Quiet hours around the present minute in Nepal, 05:45 ahead of UTC.
  private static func quietNow(_ rig: ServiceRig, _ policy: String) async throws -> String {
    let hour = "to_char(now() at time zone 'Asia/Kathmandu'"
    let times = try await rig.psql("select \(hour) - interval '1 h', 'HH24:MI'), \(hour) + interval '1 h', 'HH24:MI')")
    let ends = times.dropLast().split(separator: "|")
    return #"{"quiet_hours":{"start":"\#(ends[0])","end":"\#(ends[1])","policy":"\#(policy)"}}"#
  }
}
