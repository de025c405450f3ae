import Foundation
import Operations
import PushRules
import TestIDs
import TestProcesses
import TestRepository
import Testing

@testable import API
@testable import PushStore

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

@Suite("What needs attention")
struct AttentionTests {
  /// Queues in which nothing waits but for what a case says.
  private func items(
    oldest: Duration? = nil, nextHold: Duration? = nil, nextRetry: Duration? = nil, parked: Int = 0
  ) -> [String] {
    var queues = QueueFigures()
    (queues.freshEvents, queues.oldestEventAge, queues.held, queues.nextHold) = (1, oldest, 1, nextHold)
    (queues.retryable, queues.nextRetry, queues.parked) = (1, nextRetry, parked)
    let instance = RunningInstance(
      id: "i", host: "a", processID: 1, version: "1.0", startedAt: 0, age: .zero, shards: 16)
    let overview = ServiceOverview(
      ledger: LedgerFigures(), queues: queues, lanes: [], parked: [], instances: [instance], newest: [])
    return Attention(overview: overview, routes: [], faults: []).items.map(\.markup)
  }

  @Test("what waits for ten seconds longer than it should does, and nothing before")
  func queues() {
    #expect(items() == [])
    #expect(items(oldest: .milliseconds(9999), nextHold: .milliseconds(-9999), nextRetry: .milliseconds(-9999)) == [])
    #expect(items(oldest: .seconds(10)) == ["The oldest event has been in the inbox for 10 s."])
    #expect(items(nextHold: .seconds(-10)) == ["The first held push was to be looked at 10 s ago."])
    #expect(items(nextRetry: .seconds(-120)) == ["The first retry was due 2 min ago."])
    #expect(items(nextHold: .seconds(60), nextRetry: .seconds(60)) == [])
    #expect(items(parked: 1) == ["<a href=\"#parked\">1 set aside</a>: they cannot succeed."])
  }

  @Test("what a process says of itself is taken over, but for its routes and what is well")
  func faults() {
    let checks = [
      ReadinessCheck("listen", isReady: true, detail: "not used"), ReadinessCheck("process", isReady: false),
      ReadinessCheck("apns a/production", isReady: false),
    ]
    #expect(ProcessFault.all(checks) == [ProcessFault(name: "process", detail: nil)])
  }

  @Test("a shadow is told although it is ready: else all would be called well while nothing is sent")
  func shadow() {
    let check = ReadinessCheck(ReadinessCheck.shadow, isReady: true, detail: "SHADOW is true")
    #expect(ProcessFault.all([check]) == [ProcessFault(name: "shadow", detail: "SHADOW is true")])
  }
}

@Suite("The page of events for the host")
struct HostEventPageTests {
  private static let user = "0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11"
  private static let subject = "7f0c1f4e-9f5c-4a57-8b53-1f8c54a1c2f1"

  @Test("it shows dead and waiting events with the last answer, and sends them again", .uuidsOnly)
  func shown() async throws {
    try await PageRig.run { rig in
      let session = try await rig.logIn()
      let empty = try await rig.get("/dashboard/events", cookie: session)
      #expect(empty.status == 200 && empty.body.contains("There are none."))
      try await rig.sql(
        """
        insert into tacet.host_events (type, user_id, subject_id, kind, state, attempts, status, error, ended_at)
        values ('push.unread', '\(Self.user)', '\(Self.subject)', 'message', 'dead', 9, 503, 'status <503>', now());
        insert into tacet.host_events (type, user_id, due_at) values ('device.dropped', '\(Self.user)', now() + interval '1 h')
        """)
      let page = try await rig.get("/dashboard/events", cookie: session)
      for text in [
        "push.unread of <a href=\"/dashboard/explain?subject_id=\(Self.subject)&amp;kind=message", "status &lt;503&gt;",
        "device.dropped", "not tried", "action=\"/dashboard/events/retry\"",
      ] {
        #expect(page.body.contains(text), "\(text)")
      }
      let answer = try await rig.post("/dashboard/events/retry", "", cookie: session)
      #expect(answer.status == 303)
      #expect(
        try await rig.sql("select count(*) from tacet.host_events where state = 'waiting' and due_at <= now()") == "2")
    }
  }
}

@Suite("The page of engagement")
struct EngagementPageTests {
  private func expect(_ texts: [String], on page: PlainResponse) {
    #expect(page.status == 200)
    for text in texts { #expect(page.body.contains(text), "\(text)") }
  }

  @Test("without users and analyses it shows zeros, and says when there will be an analysis")
  func empty() async throws {
    try await PageRig.run { rig in
      let page = try await rig.get("/dashboard/engagement", cookie: try await rig.logIn())
      expect(["<dt>Users</dt><dd>0</dd>", "<dd>0.0 %</dd>", "The service stores one every 72 hours."], on: page)
    }
  }

  @Test("it shows the users of now by their classes, and the stored analyses, the newest first")
  func filled() async throws {
    try await PageRig.run { rig in
      try await Ledger(rig: rig).fillEngagement()
      let session = try await rig.logIn()
      let page = try await rig.get("/dashboard/engagement", cookie: session)
      expect(
        [
          "<dt>Users</dt><dd>18</dd>", "<dt>Active</dt><dd>2</dd>", "<dd>11 %</dd>",
          "aria-label=\"2 active, 4 recent, ",
          "active, up to a day ago: 2 (11 %)", "All users whose activity is known, now", "12\u{202F}345", "9.9 %",
          "<dt>Session length</dt><dd>0 s</dd>",
          "<td role=\"cell\" data-label=\"Sessions per user\" class=\"number\">2.00</td>", "1 min",
        ], on: page)
      let places = ["2026-01-04", "2026-01-01"].map { page.body.firstRange(of: ">\($0)<")?.lowerBound }
      #expect(try #require(places[0]) < #require(places[1]))
      let overview = try await rig.get("/dashboard", cookie: session).body
      #expect(overview.contains("<a href=\"/dashboard/engagement\">Engagement</a>"))
    }
  }

  @Test("where the users cannot be counted it shows the newest analysis, if there is one")
  func uncounted() async throws {
    try await PageRig.run { rig in
      try await rig.sql("alter table tacet.activity rename to lost")
      let session = try await rig.logIn()
      let without = try await rig.get("/dashboard/engagement", cookie: session)
      expect(["no analysis is stored yet"], on: without)
      #expect(!without.body.contains("<dl"))
      try await rig.sql("alter table tacet.lost rename to activity")
      try await Ledger(rig: rig).fillEngagement()
      try await rig.sql("alter table tacet.activity rename to lost")
      let page = try await rig.get("/dashboard/engagement", cookie: session)
      expect(
        [
          "The users could not be counted in time.", "the analysis of <time datetime=\"2026-01-04T10:00:00",
          "<dt>Users</dt><dd>12\u{202F}345</dd>",
        ], on: page)
    }
  }

  @Test(
    "the bar is as wide as all users, whatever their classes",
    arguments: [[0, 0, 0, 0], [1, 1, 1, 0], [7, 0, 0, 2], [1_000_000, 1, 0, 0]])
  func bar(_ users: [Int]) {
    let chart = EngagementChart(figures: figures(users)).html.markup
    let widths = chart.matches(of: /width="(\d+)"/).compactMap { Int($0.1) }
    #expect(widths.count == 4 && widths.reduce(0, +) == (users == [0, 0, 0, 0] ? 0 : 1000))
  }

  private func figures(_ users: [Int]) -> EngagementFigures {
    var figures = EngagementFigures(periodStart: 0, periodEnd: 1)
    (figures.activeUsers, figures.recentUsers, figures.lapsedUsers, figures.churnRiskUsers) = (
      users[0], users[1], users[2], users[3]
    )
    figures.totalUsers = users.reduce(0, +)
    return figures
  }
}

@Suite("The pages in a browser", .timeLimit(.minutes(20)))
struct BrowserTests {
  private static let script = Repository.file("deploy/lib/checks/browse-dashboard.py").path

  @Test(
    "somebody logs in, searches, reads an explanation and leaves; wide and narrow, light and dark, without JavaScript")
  func visit() async throws {
    let message = UUID().uuidString.lowercased()
    let story = Story.explanation(of: message, to: UUID().uuidString.lowercased())
    let routes = [
      RouteCondition(
        name: "com.example.app/production", isReady: false, isNeeded: true, problem: "InvalidProviderToken")
    ]
    try await PageRig.run(routes: routes, explanations: [story]) { rig in
      let ledger = Ledger(rig: rig)
      try await ledger.fill()
      try await ledger.fillEngagement()
      try await rig.sql("update tacet.push_log set subject_id = '\(message)' where subject_id = '\(ledger.message)'")
      let arguments = [
        "python3", Self.script, "check", "http://127.0.0.1:\(rig.port)", PageRig.serviceKey, ledger.user, message,
        String(ledger.token.prefix(10)),
      ]
      // It throws when the script ends with anything but 0, with what the script said.
      let said = try await onOwnThread { try run(arguments) }
      #expect(said.contains("nothing wrong"))
    }
  }
}
