import Cryptography
import FoundationEssentials
import PushRules
import TestIDs
import Testing

@Suite("Browsers and Android apps over HTTP")
struct TargetRoutesTests {
  struct Registered: Decodable { let fetch_token: String }

  private struct Shown: Decodable {
    struct Notification: Decodable {
      let title: String
      let body: String?
      let navigate: String
      let tag: String?
    }
    let web_push: Int
    let notification: Notification
  }

  private static let point = Base64URL.encode(P256PrivateKey().publicKey.x963)
  private static let path = "/v1/web-push/subscriptions"

  static func body(_ endpoint: String, more: String = "") -> String {
    #"{"endpoint": "\#(endpoint)", "keys": {"p256dh": "\#(point)", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}\#(more)}"#
  }

  static func endpoint(_ name: String) -> String {
    "https://updates.push.services.mozilla.com/wpush/v2/\(name)"
  }

  @Test("a subscription is stored with its keys and the key that it was made with, and moves to whoever registers it")
  func registered() async throws {
    try await ServiceRig.run { rig in
      let (one, other) = (try await rig.makeUser(), try await rig.makeUser())
      let more = #", "locale": "de-CH", "time_zone": "Europe/Zurich", "expiration_time": "2031-01-01T00:00:00Z""#
      let first = try await rig.ask("PUT", Self.path, as: one, body: Self.body(Self.endpoint("a"), more: more))
      #expect(first.status == 200)
      let row = """
        select user_id, channel, locale, time_zone, expires_at = '2031-01-01Z', keys::json ->> 'key', dropped_at is null
        from tacet.targets
        """
      #expect(
        try await rig.psql(row) == "\(one)|web_push|de-CH|Europe/Zurich|t|\(ServiceRig.publicKey)|t\n")
      let second = try await rig.ask("PUT", Self.path, as: other, body: Self.body(Self.endpoint("a")))
      #expect(try first.decode(Registered.self).fetch_token != second.decode(Registered.self).fetch_token)
      #expect(try await rig.psql(row) == "\(other)|web_push||||\(ServiceRig.publicKey)|t\n")
    }
  }

  @Test("a user keeps the newest, and a log-out ends only the user's own")
  func kept() async throws {
    try await ServiceRig.run { rig in
      let (user, stranger) = (try await rig.makeUser(), try await rig.makeUser())
      for name in ["a", "b", "c"] {
        #expect(try await rig.ask("PUT", Self.path, as: user, body: Self.body(Self.endpoint(name))).status == 200)
      }
      let rows = "select right(address, 1), drop_reason from tacet.targets order by 1"
      #expect(try await rig.psql(rows) == "a|too_many\nb|\nc|\n")
      let body = #"{"endpoint": "\#(Self.endpoint("b"))"}"#
      #expect(try await rig.ask("DELETE", Self.path, as: stranger, body: body).status == 204)
      #expect(try await rig.psql(rows) == "a|too_many\nb|\nc|\n")
      for _ in 0..<2 { #expect(try await rig.ask("DELETE", Self.path, as: user, body: body).status == 204) }
      #expect(try await rig.psql(rows) == "a|too_many\nb|logged_out\nc|\n")
    }
  }

  @Test("what cannot be used is refused by its name, and nothing is stored")
  func refused() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let endpoints = [
        "http://updates.push.services.mozilla.com/a", "https://example.com/a", "https://127.0.0.1/a",
        "https://169.254.169.254/latest", "https://u:p@updates.push.services.mozilla.com/a",
        "https://updates.push.services.mozilla.com:8443/a", "https://updates.push.services.mozilla.com/a#b", "a", "",
        Self.endpoint(String(repeating: "a", count: 1000)),
      ]
      for endpoint in endpoints {
        let answer = try await rig.ask("PUT", Self.path, as: user, body: Self.body(endpoint))
        #expect(answer.status == 400, "\(endpoint)")
        #expect(answer.field == "endpoint", "\(endpoint)")
      }
      let whole = Self.body(Self.endpoint("a"))
      let bodies = [
        (whole.replacing(Self.point, with: Self.point.dropLast(2)), "keys.p256dh", 400),
        (whole.replacing("BTBZMqHH6r4Tts7J_aSIgg", with: "BTBZ"), "keys.auth", 400),
        (Self.body(Self.endpoint("a"), more: #", "time_zone": 1"#), "time_zone", 400),
        (Self.body(Self.endpoint("a"), more: #", "locale": {}"#), "locale", 400),
        (Self.body(Self.endpoint("a"), more: #", "expirationTime": -1"#), "expirationTime", 400),
        (Self.body(Self.endpoint("a"), more: #", "expirationTime": 1e300"#), "expirationTime", 400),
        (Self.body(Self.endpoint("a"), more: #", "expiration_time": "tomorrow""#), "expiration_time", 400),
        (Self.body(Self.endpoint("a"), more: #", "colour": "red""#), "colour", 400),
        (#"{"endpoint": "\#(Self.endpoint("a"))"}"#, "keys", 400),
      ]
      for (body, field, status) in bodies {
        let answer = try await rig.ask("PUT", Self.path, as: user, body: body)
        #expect(answer.status == status, "\(field)")
        #expect(answer.field == field)
      }
      #expect(try await rig.psql("select count(*) from tacet.targets") == "0\n")
    }
  }

  @Test("what a browser's subscription says of itself is taken as it is")
  func toJSON() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      for (told, kept) in [("null", ""), ("1924992000000.5", "2031-01-01 00:00:00")] {
        let body = Self.body(Self.endpoint("a"), more: #", "expirationTime": \#(told)"#)
        #expect(try await rig.ask("PUT", Self.path, as: user, body: body).status == 200)
        let row = "select (expires_at at time zone 'UTC')::timestamp(0) from tacet.targets"
        #expect(try await rig.psql(row) == kept + "\n")
      }
    }
  }

  @Test("what nobody knows of a person's locale and zone is left out, and the answer says so")
  func ignored() async throws {
    struct Answer: Decodable { let ignored: [String]? }
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let row = "select locale, time_zone from tacet.targets"
      for (locale, zone, kept, ignored) in [
        ("de-CH", "Europe/Zurich", "de-CH|Europe/Zurich", nil),
        ("zh_Hans", "europe/zurich", "zh-Hans|Europe/Zurich", nil),
        ("de-DE@posix", "Mars/Olympus", "de-DE|Europe/Zurich", ["time_zone"]),
        ("de_DE.UTF-8@euro", "+03:00", "de-DE|Europe/Zurich", ["time_zone"]),
        ("?", "", "de-DE|Europe/Zurich", ["locale", "time_zone"]),
      ] as [(String, String, String, [String]?)] {
        let more = #", "locale": "\#(locale)", "time_zone": "\#(zone)""#
        let answer = try await rig.ask("PUT", Self.path, as: user, body: Self.body(Self.endpoint("a"), more: more))
        #expect(answer.status == 200, "\(locale) \(zone)")
        #expect(try answer.decode(Answer.self).ignored == ignored, "\(locale) \(zone)")
        #expect(try await rig.psql(row) == kept + "\n", "\(locale) \(zone)")
      }
    }
  }

  @Test("a subscription that has ended for good is not registered again; one that the user or we have ended is")
  func ended() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let body = Self.body(Self.endpoint("a"))
      for (reason, status) in [
        ("http_410", 410), ("VapidPkHashMismatch", 410), ("logged_out", 200), ("too_many", 200), ("replaced", 200),
      ] {
        #expect(try await rig.ask("PUT", Self.path, as: user, body: body).status == 200)
        try await rig.psql("update tacet.targets set dropped_at = now(), drop_reason = '\(reason)', keys = null")
        let answer = try await rig.ask("PUT", Self.path, as: user, body: body)
        #expect(answer.status == status, "\(reason)")
        if status == 410 { #expect(answer.field == "endpoint") }
        #expect(try await rig.psql("select dropped_at is null from tacet.targets") == (status == 200 ? "t\n" : "f\n"))
        try await rig.psql("delete from tacet.targets")
      }
      // Made with a former key of the service.
      #expect(try await rig.ask("PUT", Self.path, as: user, body: body).status == 200)
      try await rig.psql(#"update tacet.targets set keys = keys::jsonb || '{"key": "former"}'"#)
      #expect(try await rig.ask("PUT", Self.path, as: user, body: body).status == 410)
      // A token of Android may come back.
      let android = #"{"token": "bk3RNwTe3H0:CI2k"}"#
      #expect(try await rig.ask("PUT", "/v1/fcm/registrations", as: user, body: android).status == 204)
      try await rig.psql(
        "update tacet.targets set dropped_at = now(), drop_reason = 'UNREGISTERED' where channel = 'fcm'")
      #expect(try await rig.ask("PUT", "/v1/fcm/registrations", as: user, body: android).status == 204)
    }
  }

  @Test("an Android app registers and leaves by its token")
  func android() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let path = "/v1/fcm/registrations"
      let token = #"{"token": "bk3RNwTe3H0:CI2k_HHwgIpo", "app": "com.example.app"}"#
      #expect(try await rig.ask("PUT", path, as: user, body: token).status == 204)
      let row = "select user_id, channel, address, app, drop_reason from tacet.targets"
      #expect(try await rig.psql(row) == "\(user)|fcm|bk3RNwTe3H0:CI2k_HHwgIpo|com.example.app|\n")
      let life = "select round(extract(epoch from expires_at - now()) / 86400) from tacet.targets"
      #expect(try await rig.psql(life) == "270\n")
      #expect(try await rig.ask("DELETE", path, as: user, body: token).status == 204)
      #expect(try await rig.psql(row) == "\(user)|fcm|bk3RNwTe3H0:CI2k_HHwgIpo|com.example.app|logged_out\n")
      for token in ["", "a b", "\\u0000", String(repeating: "a", count: 1025)] {
        let answer = try await rig.ask("PUT", path, as: user, body: #"{"token": "\#(token)"}"#)
        #expect(answer.status == 400)
        #expect(answer.field == "token")
      }
    }
  }

  @Test("a worker gets the newest push of its user, and reports what was opened of it")
  func worker() async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let stranger = try await rig.makeUser()
      let answer = try await rig.ask("PUT", Self.path, as: reader, body: Self.body(Self.endpoint("a")))
      let token = try answer.decode(Registered.self).fetch_token
      #expect(try await rig.worker("GET", "/v1/notifications/latest", token).status == 204)
      try await rig.psql(
        """
        insert into tacet.push_log (subject_id, user_id, push_type, decision, enqueued_at)
        values ('\(message)', '\(reader)', 'message', 'sent', now())
        """)
      let shown = try await rig.worker("GET", "/v1/notifications/latest", token)
      #expect(shown.status == 200 && shown.fields["cache-control"] == "no-store")
      let document = try shown.decode(Shown.self)
      #expect(document.web_push == 8030 && document.notification.body == "Hello")
      let conversation = try await rig.psql("select conversation_id from public.messages").filter { !$0.isWhitespace }
      #expect(document.notification.navigate == "https://chat.example.com/c/\(conversation)")
      #expect(document.notification.tag == message)

      let row = try await rig.psql("select id from tacet.push_log").filter { !$0.isWhitespace }
      let event = #"{"events": [{"push_log_id": "\#(row)", "event": "opened"}]}"#
      #expect(try await rig.worker("POST", "/v1/notifications/events", token, event).status == 204)
      #expect(try await rig.psql("select opened from tacet.push_log") == "t\n")
      // Another user's worker changes nothing.
      let other = try await rig.ask("PUT", Self.path, as: stranger, body: Self.body(Self.endpoint("b")))
      try await rig.psql("update tacet.push_log set opened = false")
      let foreign = try other.decode(Registered.self).fetch_token
      #expect(try await rig.worker("POST", "/v1/notifications/events", foreign, event).status == 204)
      #expect(try await rig.psql("select opened from tacet.push_log") == "f\n")
      // A log-out ends the token.
      _ = try await rig.ask("DELETE", Self.path, as: reader, body: #"{"endpoint": "\#(Self.endpoint("a"))"}"#)
      #expect(try await rig.worker("POST", "/v1/notifications/events", token, event).status == 401)
      #expect(try await rig.worker("GET", "/v1/notifications/latest", token).status == 401)
      for wrong in ["", "abc", String(repeating: "a", count: 44)] {
        #expect(try await rig.worker("GET", "/v1/notifications/latest", wrong).status == 401)
      }
    }
  }

  @Test("a stranger's token is refused before its content is read, and without the database")
  func strangers() async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig) async throws in
      var generator = SystemRandomNumberGenerator()
      let token = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
      #expect(try await rig.worker("GET", "/v1/notifications/latest", token).status == 401)
      // Content that is read is refused as no document.
      #expect(try await rig.worker("POST", "/v1/notifications/events", token, "{").status == 401)
    }
  }

  @Test("a worker whose browser has replaced its subscription says so in its user's name, once")
  func replaced() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let first = try await rig.ask("PUT", Self.path, as: user, body: Self.body(Self.endpoint("a")))
      let token = try first.decode(Registered.self).fetch_token
      let second = try await rig.worker("PUT", Self.path, token, Self.body(Self.endpoint("b")))
      #expect(second.status == 200)
      #expect(try second.decode(Registered.self).fetch_token != token)
      let rows = "select right(address, 1), user_id, drop_reason from tacet.targets order by 1"
      #expect(try await rig.psql(rows) == "a|\(user)|replaced\nb|\(user)|\n")
      #expect(try await rig.worker("PUT", Self.path, token, Self.body(Self.endpoint("c"))).status == 401)
      let refused = try await rig.worker(
        "PUT", Self.path, second.decode(Registered.self).fetch_token, Self.body("https://example.com/a"))
      #expect(refused.status == 400)
      #expect(try await rig.psql(rows) == "a|\(user)|replaced\nb|\(user)|\n")
    }
  }

  @Test("browsers load the client and the worker, once")
  func files() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let worker = try await PlainClient.ask("GET", "/clients/tacet-sw.js", port: rig.port)
      #expect(worker.status == 200 && worker.fields["content-type"] == "text/javascript; charset=utf-8")
      #expect(worker.fields["service-worker-allowed"] == "/")
      let types = try await PlainClient.ask("GET", "/clients/tacet.d.ts", port: rig.port)
      #expect(types.status == 200 && types.fields["content-type"] == "text/plain; charset=utf-8")
      let tag = try #require(worker.fields["etag"])
      let again = try await PlainClient.ask(
        "GET", "/clients/tacet-sw.js", fields: ["If-None-Match": tag], port: rig.port)
      #expect(again.status == 304 && again.body.isEmpty)
      #expect(try await PlainClient.ask("GET", "/clients/passwd", port: rig.port).status == 404)
      let key = try await PlainClient.ask("GET", "/v1/web-push/key", port: rig.port)
      #expect(key.body == #"{"public_key":"\#(ServiceRig.publicKey)"}"#)
    }
  }
}

extension ServiceRig {
  func worker(
    _ method: String, _ path: String, _ token: String, _ body: String = ""
  ) async throws -> PlainResponse {
    var fields = ["Authorization": "Bearer \(token)"]
    if !body.isEmpty { fields["Content-Type"] = "application/json" }
    return try await PlainClient.ask(method, path, fields: fields, body: body, port: port)
  }
}

@Suite("Devices over HTTP")
struct DeviceRoutesTests {
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
        #expect(answer.field == field)
      }
      for token in ["a", "ag", "a%61a", "aa-bb", String(repeating: "aa", count: 1025)] {
        for method in ["PUT", "DELETE"] {
          let answer = try await rig.ask(method, "/v1/devices/\(token)", as: user, body: method == "PUT" ? "{}" : "")
          #expect(answer.status == 400, "\(method) \(token.prefix(8))")
          #expect(answer.field == "token")
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

  @Test("only clients of known users register, and one device more than the bound drops the oldest")
  func owners() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let longest = String(repeating: "af", count: 256)
      #expect(try await rig.ask("PUT", "/v1/devices/\(longest)", as: user, body: "{}").status == 204)
      #expect(try await rig.psql("select device_token from public.push_tokens") == longest + "\n")
      try await rig.psql("delete from public.push_tokens")
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
}

extension ServiceRig {
  /// A user of the host; the id in lower case, as the database prints it.
  func makeUser() async throws -> String {
    let id = HostID.new().text
    try await psql("insert into public.profiles (id, name) values ('\(id)', 'Ann')")
    return id
  }
}
