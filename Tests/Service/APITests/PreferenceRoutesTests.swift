import FoundationEssentials
import Testing

@Suite("Preferences over HTTP")
struct PreferenceRoutesTests {
  private static let defaults = #"{"conversations":[],"disabled_kinds":[],"quiet_hours":null,"unread_after":{}}"#

  @Test("whoever said nothing has the defaults; a document is answered as it was stored, and the next one replaces it")
  func replaced() async throws {
    try await ServiceRig.run { rig in
      let (user, other) = (try await rig.makeUser(), try await rig.makeUser())
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == Self.defaults)
      let body = """
        {"quiet_hours": {"start": "22:00", "end": "07:05"}, "disabled_kinds": ["message"],
        "conversations": [
          {"conversation_id": "0B6F9A52-53C4-4D3C-9D0C-5F2C4F3B8F11", "muted": true, "muted_until": "2026-01-31T20:15:00+01:00"},
          {"conversation_id": "00000000-0000-0000-0000-000000000001", "mentions_only": true}],
        "unread_after": {"message": 900, "digest": 0}}
        """
      let stored = """
        {"conversations":[{"conversation_id":"00000000-0000-0000-0000-000000000001","mentions_only":true,"muted":false,\
        "muted_until":null},{"conversation_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","mentions_only":false,"muted":true,\
        "muted_until":"2026-01-31T19:15:00.000Z"}],"disabled_kinds":["message"],"quiet_hours":{"end":"07:05",\
        "policy":"hold","start":"22:00","time_zone":null},"unread_after":{"digest":0,"message":900}}
        """
      let answer = try await rig.ask("PUT", "/v1/preferences", as: user, body: body)
      #expect(answer.status == 200)
      #expect(answer.body == stored)
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == stored)
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: stored).body == stored)
      #expect(try await rig.ask("GET", "/v1/preferences", as: other).body == Self.defaults)
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: "{}").body == Self.defaults)
    }
  }

  @Test("a time zone that nobody knows is refused and changes nothing; so is a stranger")
  func refused() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let body = #"{"quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Nowhere"}}"#
      let answer = try await rig.ask("PUT", "/v1/preferences", as: user, body: body)
      #expect(answer.status == 422)
      #expect(answer.body.contains(#""field":"quiet_hours.time_zone""#))
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == Self.defaults)
      #expect(try await rig.ask("GET", "/v1/preferences").status == 401)
      #expect(try await rig.ask("PUT", "/v1/preferences", body: "{}").status == 401)
    }
  }
}
