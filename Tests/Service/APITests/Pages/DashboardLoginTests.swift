import Foundation
import PushRules
import TestIDs
import Testing

@testable import API

@Suite("Coming into the pages")
struct DashboardLoginTests {
  @Test("without a session every page leads to the log-in form, which leads back")
  func outside() async throws {
    try await PageRig.run { rig in
      for path in [
        "/dashboard", "/dashboard/pushes?user_id=\(HostID.new())", "/dashboard/explain?subject_id=\(HostID.new())",
        "/dashboard/engagement",
      ] {
        for cookie in [nil, "tacet_session=", "tacet_session=1.2", "other=1"] {
          let answer = try await rig.get(path, cookie: cookie)
          #expect(answer.status == 303)
          #expect(answer.fields["location"] == DashboardLink.login(then: path))
          #expect(answer.body == "")
        }
      }
      let search = try await rig.post("/dashboard/search", "q=\(HostID.new())")
      #expect(search.fields["location"] == "/dashboard/login")
      let form = try await rig.get("/dashboard/login?then=%2Fdashboard%2Fexplain%3Fa%3D%22b")
      #expect(form.status == 200)
      #expect(form.body.contains("value=\"/dashboard/explain?a=&quot;b\""))
    }
  }

  @Test("the right key opens a session, which closes with logging out")
  func session() async throws {
    try await PageRig.run { rig in
      let answer = try await rig.post("/dashboard/login", "key=service+key+of+the+tests&then=%2Fdashboard%3Flive%3Dno")
      #expect(answer.status == 303)
      #expect(answer.fields["location"] == "/dashboard?live=no")
      let cookie = try #require(answer.fields["set-cookie"])
      #expect(cookie.hasSuffix("; Path=/dashboard; Max-Age=28800; HttpOnly; SameSite=Strict"))
      let session = String(cookie.prefix { $0 != ";" })
      #expect(try await rig.get("/dashboard", cookie: "a=b; \(session); c").status == 200)
      let left = try await rig.post("/dashboard/logout", "", cookie: session)
      #expect(left.status == 303)
      #expect(left.fields["set-cookie"]?.hasPrefix("tacet_session=; Path=/dashboard; Max-Age=0;") == true)
    }
  }

  @Test(
    "a cookie is for TLS when the browser came by it",
    arguments: [
      (false, "http://localhost:8080", false), (false, "https://localhost:8080", true),
      (true, "http://localhost:8080", true),
    ])
  func secure(isTLS: Bool, origin: String, isSecure: Bool) async throws {
    try await PageRig.run(isTLS: isTLS) { rig in
      let answer = try await rig.post(
        "/dashboard/login", "key=service+key+of+the+tests", fields: ["Origin": origin])
      #expect(answer.fields["set-cookie"]?.contains("; Secure") == isSecure)
    }
  }

  @Test(
    "a form that no page of ours has sent does nothing",
    arguments: [
      [:], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
      ["Origin": "null"], ["Origin": "http://evil.example"], ["Origin": "http://localhost"],
      ["Origin": "http://localhost:80801"], ["Origin": "ftp://localhost:8080"],
      ["Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:8080"],
    ])
  func foreign(fields: [String: String]) async throws {
    try await PageRig.run { rig in
      let session = try await rig.logIn()
      for path in ["/dashboard/login", "/dashboard/logout", "/dashboard/search"] {
        let answer = try await rig.post(
          path, "key=service+key+of+the+tests&q=\(HostID.new())", cookie: session, fields: fields)
        #expect(answer.status == 403)
        #expect(answer.fields["set-cookie"] == nil)
      }
    }
  }

  @Test(
    "forms of our pages are taken, by either sign",
    arguments: [
      ["Origin": "http://localhost:8080"], ["Origin": "https://LOCALHOST:8080"], ["Sec-Fetch-Site": "same-origin"],
    ])
  func own(fields: [String: String]) async throws {
    try await PageRig.run { rig in
      let answer = try await rig.post("/dashboard/login", "key=service+key+of+the+tests", fields: fields)
      #expect(answer.status == 303)
    }
  }

  @Test("wrong keys are refused, after ten of them with 429, and the right one passes")
  func wrong() async throws {
    try await PageRig.run { rig in
      for form in ["key=service+key+of+the+test", "key=", "", "key=%FF", "key=a&key=service+key+of+the+tests"] {
        let answer = try await rig.post("/dashboard/login", form)
        #expect(answer.status == 403)
        #expect(answer.body.contains("This is not the service key."))
        #expect(answer.fields["set-cookie"] == nil)
      }
      for _ in 0..<5 { _ = try await rig.post("/dashboard/login", "key=guess") }
      let answer = try await rig.post("/dashboard/login", "key=guess")
      #expect(answer.status == 429)
      let seconds = try #require(answer.fields["retry-after"].flatMap { Int($0) })
      #expect((1...6).contains(seconds))
      #expect(try await rig.post("/dashboard/login", "key=service+key+of+the+tests").status == 303)
    }
  }

  @Test("without a service key the pages say how to set one, and let nobody in")
  func off() async throws {
    try await PageRig.run(keys: []) { rig in
      for path in ["/dashboard", "/dashboard/login", "/dashboard/pushes"] {
        let answer = try await rig.get(path)
        #expect(answer.status == 404)
        #expect(answer.body.contains("SERVICE_KEY="))
      }
      #expect(try await rig.post("/dashboard/login", "key=").status == 404)
    }
  }

  @Test("every answer forbids what the pages do not need")
  func fields() async throws {
    try await PageRig.run { rig in
      let session = try await rig.logIn()
      for path in [
        "/dashboard", "/dashboard/login", "/dashboard/explain?subject_id=\(HostID.new())", "/dashboard/pushes",
        "/dashboard/engagement",
      ] {
        let fields = try await rig.get(path, cookie: session).fields
        #expect(
          fields["content-security-policy"]
            == "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
        #expect(fields["x-content-type-options"] == "nosniff")
        #expect(fields["referrer-policy"] == "same-origin")
        #expect(fields["cache-control"] == "no-store")
        #expect(fields["content-type"] == "text/html; charset=utf-8")
      }
      let page = try await rig.get("/dashboard/login").body
      let style = try #require(page.firstMatch(of: /href="(\/dashboard\/style\.css\?v=[0-9a-f]+)"/))
      let styles = try await rig.get(String(style.1))
      #expect(styles.status == 200 && styles.body.contains("prefers-color-scheme"))
      #expect(styles.fields["content-type"] == "text/css; charset=utf-8")
    }
  }
}

@Suite("Sessions of the pages")
struct DashboardSessionsTests {
  private let sessions = DashboardSessions(["old key", "new key"])
  private let start: Int64 = 1_800_000_000

  @Test(
    "a session is opened by every service key and by nothing else",
    arguments: [
      ("old key", true), ("new key", true), ("", false), ("old ke", false), ("old key ", false), ("OLD KEY", false),
    ])
  func keys(_ key: String, opens: Bool) {
    #expect((sessions.open(with: key, now: start) != nil) == opens)
  }

  @Test(
    "a session lasts for its life",
    arguments: [
      (0, true), (1, true), (DashboardSessions.lifeSeconds - 1, true), (DashboardSessions.lifeSeconds, false),
      (-1, false),
    ])
  func life(_ age: Int64, isOpen: Bool) throws {
    let session = try #require(sessions.open(with: "old key", now: start))
    #expect(sessions.accepts(session, now: start + age) == isOpen)
  }

  @Test("a session ends with the key that opened it, and with no other")
  func rotation() throws {
    let old = try #require(sessions.open(with: "old key", now: start))
    let new = try #require(sessions.open(with: "new key", now: start))
    let later = DashboardSessions(["new key", "newest key"])
    #expect(!later.accepts(old, now: start))
    #expect(later.accepts(new, now: start))
    #expect(!DashboardSessions([]).accepts(new, now: start))
  }

  @Test("nothing but what was signed is accepted, changed or cut at any byte")
  func forged() throws {
    let session = try #require(sessions.open(with: "old key", now: start))
    #expect(sessions.accepts(session, now: start))
    for place in session.indices {
      #expect(!sessions.accepts(String(session[..<place]), now: start))
      let other = session[place] == "1" ? "2" : "1"
      #expect(!sessions.accepts(session.replacingCharacters(at: place, with: other), now: start))
    }
    let signature = session.split(separator: ".")[1]
    for end in ["+1800000001", "01800028800", "1800028801", "9223372036854775807", "9223372036854775808", "", "-1"] {
      #expect(!sessions.accepts("\(end).\(signature)", now: start), "\(end)")
    }
    for forged in [session + ".", session + "0", "." + session, session.uppercased() + "g"] {
      #expect(!sessions.accepts(forged, now: start), "\(forged)")
    }
  }
}

extension String {
  fileprivate func replacingCharacters(at place: Index, with text: String) -> String {
    self[..<place] + text + self[index(after: place)...]
  }
}

@Suite("Form bodies")
struct FormBodyTests {
  @Test(
    "reads names and values",
    arguments: [
      ("", "key", nil), ("key=abc", "key", "abc"), ("key=", "key", ""), ("key", "key", ""), ("=abc", "", "abc"),
      ("key=a+b", "key", "a b"), ("key=a%2Bb", "key", "a+b"), ("key=a=b", "key", "a=b"), ("%6bey=1", "key", "1"),
      ("a=1&key=2", "key", "2"), ("a=1&&key=2&", "key", "2"), ("key=%C3%A9", "key", "é"), ("key=100%", "key", "100%"),
      ("key=%zz", "key", "%zz"), ("Key=1", "key", nil),
      ("a=1&b=2&c=3&d=4&e=5&f=6&g=7&key=8", "key", "8"),
    ] as [(String, String, String?)])
  func reads(_ body: String, _ name: String, _ value: String?) throws {
    let form = try #require(FormBody(Array(body.utf8)))
    #expect(form[name] == value)
  }

  @Test(
    "refuses what is no form of ours",
    arguments: [
      "key=%FF", "%FF=1", "key=%C3", "key=1&key=2", "key=1&%6bey=2", "a&b&c&d&e&f&g&h&i",
      "key=" + String(repeating: "a", count: FormBody.bytesMax - 3),
    ])
  func refuses(_ body: String) {
    #expect(FormBody(Array(body.utf8)) == nil)
  }

  @Test("takes as many bytes as it may have")
  func longest() throws {
    let value = String(repeating: "a", count: FormBody.bytesMax - 4)
    let form = try #require(FormBody(Array("key=\(value)".utf8)))
    #expect(form["key"] == value)
  }

  @Test("cut at any byte it gives a beginning of the value, or nothing")
  func cut() {
    let body = Array("then=%2Fdashboard&key=s%C3%A9sam+1".utf8)
    for end in body.indices {
      guard let key = FormBody(Array(body[..<end]))?["key"] else { continue }
      let isHalfEncoded = body[..<end].suffix(2).contains(UInt8(ascii: "%"))
      #expect("sésam 1".hasPrefix(key) || isHalfEncoded, "\(end): \(key)")
    }
  }
}
