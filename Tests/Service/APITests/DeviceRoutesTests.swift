import FoundationEssentials
import PushRules
import TestIDs
import Testing

@Suite("Devices over HTTP")
struct DeviceRoutesTests {
  private struct Problem: Decodable {
    let status: Int
    let field: String?
  }

  @Test("a registration is stored in one spelling, and what is left out of the next stays")
  func registered() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let body = """
        {"environment": "sandbox", "app": "com.example.app", "platform": "ipados", "locale": "de-CH",
        "time_zone": "Europe/Zurich"}
        """
      #expect(try await rig.ask("PUT", "/v1/devices/AA0f", as: user, body: body).status == 204)
      #expect(try await rig.ask("PUT", "/v1/devices/aa0F", as: user, body: #"{"locale": null}"#).status == 204)
      let row = """
        select user_id, device_token, environment, app, platform, locale, time_zone, invalidated_at is null
        from public.push_tokens
        """
      let expected = "\(user)|aa0f|sandbox|com.example.app|ipados|de-CH|Europe/Zurich|t\n"
      #expect(try await rig.psql(row) == expected)
    }
  }

  @Test("what the user wants pushes to say and the device's key are kept, and the claim brings them")
  func wishes() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let key = "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"
      let body = #"{"content": "sealed", "sealing_key": "\#(key)", "locale": "de-AT"}"#
      #expect(try await rig.ask("PUT", "/v1/devices/aa0f", as: user, body: body).status == 204)
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: #"{"content": "sender"}"#).status == 200)
      let stored = "select keys::jsonb - 'locale' from tacet.push_targets('\(user)')"
      #expect(
        try await rig.psql(stored)
          == #"{"content": "sealed", "sealing_key": "\#(key)", "user_content": "sender"}"# + "\n")
    }
  }

  @Test("what cannot be used is refused by its name, and nothing is stored")
  func refused() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let bodies = [
        ("environment", #""development""#), ("environment", #""""#), ("environment", "1"), ("app", #""com/example""#),
        ("app", #""\#(String(repeating: "a", count: 256))""#), ("platform", #""android""#), ("platform", #""iOS""#),
        ("locale", "1"), ("time_zone", "{}"), ("content", #""Full""#), ("content", "1"),
        ("sealing_key", #""\#(String(repeating: "B", count: 42))""#), ("sealing_key", "7"),
        // Of low order: everybody knows what it agrees on.
        ("sealing_key", #""\#(String(repeating: "A", count: 43))""#),
      ]
      for (field, value) in bodies {
        let answer = try await rig.ask("PUT", "/v1/devices/aa", as: user, body: #"{"\#(field)": \#(value)}"#)
        #expect(answer.status == 400, "\(field) \(value)")
        #expect(try answer.decode(Problem.self).field == field)
      }
      for token in ["a", "ag", "a%61a", "aa-bb", String(repeating: "aa", count: 1025)] {
        for method in ["PUT", "DELETE"] {
          let answer = try await rig.ask(method, "/v1/devices/\(token)", as: user, body: method == "PUT" ? "{}" : "")
          #expect(answer.status == 400, "\(method) \(token.prefix(8))")
          #expect(try answer.decode(Problem.self).field == "token")
        }
      }
      for body in ["[]", "1", "{", ""] {
        #expect(try await rig.ask("PUT", "/v1/devices/aa", as: user, body: body).status == 400, "\(body)")
      }
      #expect(try await rig.psql("select count(*) from public.push_tokens") == "0\n")
    }
  }

  @Test(
    "a device is registered without a zone or a locale that nobody knows, and the answer says so",
    arguments: [
      (#""time_zone": "Europe/Nowhere""#, "|", #"{"ignored":["time_zone"]}"#),
      (#""time_zone": "Etc/Unknown", "locale": "zh_Hans""#, "zh-Hans|", #"{"ignored":["time_zone"]}"#),
      (#""time_zone": "+03:00", "locale": "a b""#, "|", #"{"ignored":["locale","time_zone"]}"#),
      (#""time_zone": "a b", "locale": "de-DE@posix""#, "de-DE|", #"{"ignored":["time_zone"]}"#),
      (#""time_zone": "ASIA/tokyo""#, "|Asia/Tokyo", ""),
    ])
  func ignored(_ members: String, _ kept: String, _ answer: String) async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let told = try await rig.ask("PUT", "/v1/devices/aa", as: user, body: "{\(members)}")
      #expect(told.status == (answer.isEmpty ? 204 : 200) && told.body == answer)
      #expect(try await rig.psql("select locale, time_zone from public.push_tokens") == kept + "\n")
    }
  }

  @Test("the longest token is taken")
  func longest() async throws {
    try await ServiceRig.run { rig in
      let token = String(repeating: "af", count: 256)
      let user = try await rig.makeUser()
      #expect(try await rig.ask("PUT", "/v1/devices/\(token)", as: user, body: "{}").status == 204)
      #expect(try await rig.psql("select device_token from public.push_tokens") == token + "\n")
    }
  }

  @Test("only clients of known users register, and one device more than the bound drops the oldest")
  func owners() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      #expect(try await rig.ask("PUT", "/v1/devices/aa", body: "{}").status == 401)
      #expect(try await rig.ask("DELETE", "/v1/devices/aa").status == 401)
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: HostID.new().text, body: "{}").status == 404)
      for token in ["a1", "a2", "a3"] {
        #expect(try await rig.ask("PUT", "/v1/devices/\(token)", as: user, body: "{}").status == 204)
      }
      let rows = try await rig.psql(
        "select device_token, invalidation_reason from public.push_tokens order by device_token")
      #expect(rows == "a1|too_many\na2|\na3|\n")
    }
  }

  @Test(
    "a log-out drops the user's own token, says so, and can be repeated; another's token is answered alike and stays")
  func loggedOut() async throws {
    try await ServiceRig.run { rig in
      let (user, other) = (try await rig.makeUser(), try await rig.makeUser())
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: user, body: "{}").status == 204)
      #expect(try await rig.ask("DELETE", "/v1/devices/aa", as: other).status == 204)
      #expect(try await rig.psql("select invalidation_reason from public.push_tokens") == "\n")
      for _ in 0..<2 { #expect(try await rig.ask("DELETE", "/v1/devices/AA", as: user).status == 204) }
      #expect(try await rig.ask("DELETE", "/v1/devices/bb", as: user).status == 204)
      let row = "select invalidation_reason, invalidated_at <= now() from public.push_tokens"
      #expect(try await rig.psql(row) == "logged_out|t\n")
    }
  }

  @Test("a token that moves to another user forgets locale and zone of the one before, unless they are given")
  func moved() async throws {
    try await ServiceRig.run { rig in
      let (user, other) = (try await rig.makeUser(), try await rig.makeUser())
      let said = #"{"environment": "sandbox", "platform": "ipados", "locale": "de", "time_zone": "Europe/Zurich"}"#
      let row = "select environment, platform, locale, time_zone from public.push_tokens"
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: user, body: said).status == 204)
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: user, body: "{}").status == 204)
      #expect(try await rig.psql(row) == "sandbox|ipados|de|Europe/Zurich\n")
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: other, body: "{}").status == 204)
      #expect(try await rig.psql(row) == "sandbox|ipados||\n")
      #expect(try await rig.ask("PUT", "/v1/devices/aa", as: user, body: #"{"locale": "fr"}"#).status == 204)
      #expect(try await rig.psql(row) == "sandbox|ipados|fr|\n")
    }
  }

  @Test("without a database it is 503")
  func outage() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let answer = try await rig.ask("PUT", "/v1/devices/aa", as: HostID.new().text, body: "{}")
      #expect(answer.status == 503)
      #expect(answer.fields["retry-after"] == "5")
    }
  }
}

extension ServiceRig {
  /// A user of the host; the id in lower case, as the database prints it.
  func makeUser() async throws -> String {
    let id = HostID.new().text
    try await psql("insert into public.profiles (id, name) values ('\(id)', 'Ann')")
    return id
  }
}
