import Foundation
import Operations
import PushRules
import TestIDs
import Testing

@testable import API

@Suite("What the pages show")
struct DashboardPagesTests {
  /// A process that lives throughout a test.
  private static let instance = """
    insert into tacet.instances (id, host, pid, version, seen_at) values ('i', 'a', 1, '1.0', now() + interval '10 min')
    """

  @Test("an empty service is well, and says that nothing has happened")
  func empty() async throws {
    let routes = [RouteCondition(name: "com.example.app/production", isReady: true, isNeeded: true, problem: nil)]
    let readiness = [
      ReadinessCheck("database", isReady: true), ReadinessCheck("listen", isReady: true, detail: "not used"),
    ]
    try await PageRig.run(routes: routes, readiness: readiness) { rig in
      try await rig.sql(Self.instance)
      let page = try await rig.get("/dashboard", cookie: try await rig.logIn())
      #expect(page.status == 200)
      for text in ["All is well.", "No push has been decided yet.", "com.example.app/<wbr>production", ">open<"] {
        #expect(page.body.contains(text), "\(text)")
      }
      #expect(!page.body.contains("Set aside"))
    }
  }

  @Test("the overview shows what happened, what waits, and what needs attention")
  func busy() async throws {
    let routes = [
      RouteCondition(name: "com.example.app/production", isReady: true, isNeeded: true, problem: nil),
      RouteCondition(
        name: "com.example.app/production", isReady: false, isNeeded: true, problem: "InvalidProviderToken"),
      RouteCondition(name: "com.example.tv/production", isReady: false, isNeeded: false, problem: "not tried"),
    ]
    try await PageRig.run(routes: routes) { rig in
      let ledger = Ledger(rig: rig)
      try await ledger.fill()
      let page = try await rig.get("/dashboard", cookie: try await rig.logIn()).body
      for text in [
        "<strong>com.example.app/production</strong>, 2 waiting: InvalidProviderToken", "com.example.tv/<wbr>sandbox",
        "<strong>com.example.tv/sandbox</strong>, 1 waiting", "The oldest event has been in the inbox for 3",
        "1 set aside", "the database says &lt;no&gt;", "84 sent, 12 held, 13 skipped, 12 failed",
        "last hour: 84 of 121", "<code>user_viewing</code>", "<code>BadDeviceToken</code>",
        "is looking", "push-&lt;1&gt;, 4711", "first looked at in 3", "first tried in ",
        "content=\"5\"", "user_id=\(ledger.user)",
      ] {
        #expect(page.contains(text), "\(text)")
      }
      #expect(!page.contains("<strong>com.example.tv/production"))
      let paused = try await rig.get("/dashboard?live=no", cookie: try await rig.logIn()).body
      #expect(!paused.contains("http-equiv"))
    }
  }

  @Test("a search leads to the user, the message, or the owner of the device")
  func search() async throws {
    try await PageRig.run { rig in
      let ledger = Ledger(rig: rig)
      try await ledger.fill()
      let session = try await rig.logIn()
      for (term, target) in [
        (ledger.user, "user_id=\(ledger.user)"), (ledger.user.uppercased(), "user_id=\(ledger.user)"),
        (ledger.message, "subject_id=\(ledger.message)"), (ledger.token, "user_id=\(ledger.user)"),
        (String(ledger.token.prefix(8)), "user_id=\(ledger.user)"),
        ("%20\(ledger.message)%0A", "subject_id=\(ledger.message)"),
      ] {
        let answer = try await rig.post("/dashboard/search", "q=\(term)", cookie: session)
        #expect(answer.status == 303)
        #expect(answer.fields["location"] == "/dashboard/pushes?\(target)")
      }
      for (term, status) in [(UUID().uuidString, 404), ("c0ffee18", 404), ("c0ffee", 400), ("", 400), ("%3Cb%3E", 400)]
      {
        let answer = try await rig.post("/dashboard/search", "q=\(term)", cookie: session)
        #expect(answer.status == status, "\(term)")
        #expect(!answer.body.contains("<b>"))
      }
    }
  }

  @Test("a device token of several users offers them all, by its first eight characters")
  func severalOwners() async throws {
    try await PageRig.run { rig in
      try await rig.sql(
        """
        with p as (insert into profiles (name) values ('a'), ('b') returning id)
        insert into push_tokens (user_id, device_token) select id, 'C0FFEE17' || left(id::text, 8) from p
        """)
      let answer = try await rig.post("/dashboard/search", "q=c0ffee17", cookie: try await rig.logIn())
      #expect(answer.status == 200)
      #expect(answer.body.matches(of: /Device <code>c0ffee17<\/code> of <a/).count == 2)
    }
  }

  @Test("a user's pushes are paged, the newest first, each once")
  func pages() async throws {
    try await PageRig.run { rig in
      let user = UUID().uuidString.lowercased()
      // Several of one moment, on both sides of a page's end.
      try await rig.sql(
        """
        insert into tacet.push_log (subject_id, user_id, push_type, decision, enqueued_at)
        select gen_random_uuid(), '\(user)', 'message', 'sent', now() - (n / 7) * interval '1 s'
        from generate_series(0, 119) n
        """)
      let session = try await rig.logIn()
      var path = "/dashboard/pushes?user_id=\(user)"
      var subjects: [String] = []
      var pages = 0
      while true {
        let body = try await rig.get(path, cookie: session).body
        pages += 1
        subjects += body.matches(of: /subject_id=([0-9a-f-]{36})">/).map { String($0.1) }
        guard let next = body.firstMatch(of: /rel="next" href="([^"]+)"/) else { break }
        path = String(next.1).replacing("&amp;", with: "&")
      }
      #expect(pages == 3)
      #expect(subjects.count == 120 && Set(subjects).count == 120)
      let sorted = try await rig.sql(
        "select string_agg(subject_id::text, ' ' order by enqueued_at desc, id desc) from tacet.push_log")
      #expect(subjects.joined(separator: " ") == sorted)
    }
  }

  @Test("a message's recipients are paged by user")
  func recipients() async throws {
    try await PageRig.run { rig in
      let message = UUID().uuidString.lowercased()
      try await rig.sql(
        """
        insert into tacet.push_log (subject_id, user_id, push_type, decision)
        select '\(message)', gen_random_uuid(), 'message', 'sent' from generate_series(1, 60)
        """)
      let session = try await rig.logIn()
      let first = try await rig.get("/dashboard/pushes?subject_id=\(message)", cookie: session).body
      let next = try #require(first.firstMatch(of: /rel="next" href="([^"]+)"/)).1.replacing("&amp;", with: "&")
      let second = try await rig.get(String(next), cookie: session).body
      let users = [first, second].flatMap { $0.matches(of: /pushes\?user_id=([0-9a-f-]{36})"/).map { String($0.1) } }
      #expect(users.count == 60 && users == users.sorted())
      #expect(!second.contains("rel=\"next\""))
    }
  }

  @Test(
    "an address that was changed by hand is answered as such",
    arguments: [
      "/dashboard/pushes", "/dashboard/pushes?user_id=1", "/dashboard/explain", "/dashboard/explain?subject_id=x",
      "/dashboard/explain?subject_id=0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11&user_id=x",
    ])
  func badAddresses(_ path: String) async throws {
    try await PageRig.run { rig in
      let answer = try await rig.get(path, cookie: try await rig.logIn())
      #expect(answer.status == 400)
    }
  }

  @Test("an explanation is told in order, escaped; what is unknown is said to be")
  func explanation() async throws {
    let subject = UUID().uuidString.lowercased()
    try await PageRig.run(explanations: [Story.explanation(of: subject, to: UUID().uuidString.lowercased())]) { rig in
      let session = try await rig.logIn()
      let page = try await rig.get("/dashboard/explain?subject_id=\(subject)&kind=message", cookie: session)
      #expect(page.status == 200)
      let texts = ["The push was sent", "held, because", "+2.0 ms", "Seen", "Sent to &lt;iPhone&gt;", "+31.20 s"]
      let places = texts.map { page.body.firstRange(of: $0)?.lowerBound }
      #expect(places.allSatisfy { $0 != nil }, "\(texts) \(places)")
      for path in ["subject_id=\(subject)&kind=other", "subject_id=\(HostID.new())"] {
        let unknown = try await rig.get("/dashboard/explain?\(path)", cookie: session)
        #expect(unknown.status == 404)
        #expect(unknown.body.contains("Nothing is known of it"))
      }
    }
  }

  @Test("an event's own steps are told before its recipients, and that there are more of those")
  func eventSteps() async throws {
    let (subject, whole) = (UUID().uuidString.lowercased(), UUID().uuidString.lowercased())
    let user = UUID().uuidString.lowercased()
    let stories = [Story.parked(subject, to: user), Story.explanation(of: whole, to: user)]
    try await PageRig.run(explanations: stories) { rig in
      let session = try await rig.logIn()
      let page = try await rig.get("/dashboard/explain?subject_id=\(subject)", cookie: session).body
      let texts = [
        "The event was set aside.", "+1.0 ms", "Nobody has &lt;claimed&gt; it.", "+45.00 s",
        "Set aside after five claims.", "division by zero", "The push was sent.", "+50.00 s", "Decided to send.",
        "There are more recipients",
      ]
      let places = texts.compactMap { page.firstRange(of: $0)?.lowerBound }
      #expect(places.count == texts.count && places == places.sorted(), "\(page)")
      let other = try await rig.get("/dashboard/explain?subject_id=\(whole)", cookie: session).body
      #expect(!other.contains("There are more recipients") && other.matches(of: /class="story"/).count == 1)
    }
  }

  @Test("without a database the overview says so, goes on looking, and shows what the process knows by itself")
  func noDatabase() async throws {
    let routes = [
      RouteCondition(name: "com.example.app/production", isReady: false, isNeeded: true, problem: "Shutdown"),
      RouteCondition(name: "com.example.tv/production", isReady: true, isNeeded: true, problem: nil),
    ]
    let readiness = [
      ReadinessCheck("database", isReady: false, detail: "no session is <open>"),
      ReadinessCheck("apns com.example.app/production", isReady: false, detail: "said by its route"),
    ]
    try await PageRig.run(routes: routes, readiness: readiness) { rig in
      let session = try await rig.logIn()
      try await rig.sql("alter table tacet.push_log rename to push_log_away")
      let page = try await rig.get("/dashboard", cookie: session)
      #expect(page.status == 503)
      for text in [
        "The database did not answer.", "http-equiv=\"refresh\" content=\"5\"",
        "<strong>database</strong>: no session is &lt;open&gt;",
        "<strong>com.example.app/production</strong>, no pushes go: Shutdown", "com.example.tv/<wbr>production",
        ">open<",
      ] {
        #expect(page.body.contains(text), "\(text)")
      }
      #expect(!page.body.contains("said by its route"))
      let paused = try await rig.get("/dashboard?live=no", cookie: session)
      #expect(paused.status == 503 && !paused.body.contains("http-equiv"))
      let list = try await rig.get("/dashboard/pushes?user_id=\(HostID.new())", cookie: session)
      #expect(list.status == 503 && list.body.contains("The database did not answer"))
      try await rig.sql("alter table tacet.push_log_away rename to push_log")
      #expect(try await rig.get("/dashboard", cookie: session).status == 200)
    }
  }

  @Test("a service without a process or with one that is not ready is not well")
  func notWell() async throws {
    let deaf = ReadinessCheck("listen", isReady: false, detail: "polling goes on; no notification came")
    try await PageRig.run(readiness: [deaf]) { rig in
      let session = try await rig.logIn()
      let page = try await rig.get("/dashboard", cookie: session).body
      #expect(page.contains("No process of the service has said"))
      #expect(page.contains("<strong>listen</strong>: polling goes on; no notification came"))
      try await rig.sql(Self.instance)
      #expect(!(try await rig.get("/dashboard", cookie: session).body.contains("No process of the service")))
    }
  }
}
