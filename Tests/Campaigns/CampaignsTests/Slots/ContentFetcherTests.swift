import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import Testing

@testable import Campaigns

@Suite("Fetched content", .timeLimit(.minutes(5)))
struct ContentFetcherTests {
  private static let hello = #"{"headline": "Hello"}"#

  @Test("200 is stored with its version, and 304 makes it fresh again")
  func conditional() async throws {
    try await ContentScene.run(.document(Self.hello, etag: #""v1""#), .status(304)) { (scene) async throws in
      #expect(try await scene.content(scene.row()) == [.document(Self.hello)])
      try await scene.age("23 hours 59 minutes")
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.document(Self.hello)])
      #expect(scene.host.requests.map(\.ifNoneMatch) == [nil, #""v1""#])
      #expect(try await scene.stored("fresh_until > now() + interval '23:59', etag") == #"t|"v1""#)
      #expect(scene.codes == ["FETCH_STORED": 1, "ETAG_NOT_MODIFIED": 1])
    }
  }

  @Test("there is one attempt within the lead, also when it fails, and none before it")
  func once() async throws {
    try await ContentScene.run(.status(500), .document(Self.hello)) { (scene) async throws in
      #expect(try await scene.content(scene.row(in: 1300)) == [.unavailable("content_missing")])
      #expect(scene.host.requests.isEmpty)
      for seconds in [1190.0, 600, 5] {
        #expect(try await scene.content(scene.row(in: seconds)) == [.unavailable("content_missing")])
      }
      #expect(scene.host.requests.count == 1)
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.document(Self.hello)])
      #expect(scene.host.requests.count == 2)
    }
  }

  @Test("two processes make one attempt")
  func replicas() async throws {
    try await ContentScene.run(.document(Self.hello)) { (scene) async throws in
      let row = scene.row()
      async let first = scene.content(row)
      async let second = scene.content(row)
      _ = try await (first, second)
      #expect(scene.host.requests.count == 1)
      #expect(try await scene.content(row) == [.document(Self.hello)])
    }
  }

  @Test(
    "after a failure the last good document serves for 24 hours, and then no half of it",
    arguments: [
      (.status(500), "FETCH_STATUS"), (.status(404), "FETCH_STATUS"), (.status(204), "FETCH_STATUS"),
      (.status(302, location: "/content/elsewhere"), "FETCH_STATUS"),
      (.document(#"{"headline": "Hel"#), "FETCH_MALFORMED"),
      (.document(#"{"headline": {"a": "b"}}"#), "FETCH_MALFORMED"),
      (.document(largeDocument(65_537)), "FETCH_TOO_LARGE"),
    ] as [(ScriptedHost.Answer, String)])
  func failures(_ answer: ScriptedHost.Answer, _ code: String) async throws {
    try await ContentScene.run(.document(Self.hello), answer) { (scene) async throws in
      try await scene.content(scene.row())
      try await scene.age("23 hours 59 minutes")
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.document(Self.hello)])
      #expect(try await scene.stored("failure_code") == code)
      try await scene.age("61 seconds")
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.unavailable("content_stale")])
      #expect(scene.codes == ["FETCH_STORED": 1, code: 1])
      #expect(scene.host.requests.count == 2)
    }
  }

  @Test("64 KiB fit")
  func largest() async throws {
    let document = largeDocument(65_536)
    try await ContentScene.run(.document(document)) { (scene) async throws in
      #expect(try await scene.content(scene.row()) == [.document(document)])
    }
  }

  @Test("a host has its limit, and one that hangs is asked once")
  func timeout() async throws {
    #expect(ContentConfiguration().limit == .seconds(12))
    try await ContentScene.run(.silence) { (scene) async throws in
      let (row, source) = (scene.row(), try scene.source())
      for _ in 0..<2 {
        // Long enough for the request to arrive.
        try await scene.withFetcher(limit: .seconds(2)) {
          try await $0.refresh([row], of: "daily", from: source, on: $1)
        }
      }
      #expect(scene.codes == ["FETCH_TIMEOUT": 1])
      #expect(scene.host.requests.count == 1)
      #expect(scene.log.texts == ["warning: content was not fetched, and stored content serves while it is fresh"])
    }
  }

  @Test("a document is that of the last day")
  func days() async throws {
    let other = #"{"headline": "Bye"}"#
    try await ContentScene.run(.document(Self.hello), .document(other)) { (scene) async throws in
      #expect(try await scene.content(scene.row()) == [.document(Self.hello)])
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.document(other)])
    }
  }

  @Test("each user has a document where the URL names the user, and more users than fetch at once are all served")
  func perUser() async throws {
    try await ContentScene.run(.document(Self.hello)) { (scene) async throws in
      let rows = scene.rows(40)
      let source = try scene.source("/{user_id}")
      try await scene.withFetcher { try await $0.refresh(rows, of: "daily", from: source, on: $1) }
      let outcomes = try await scene.coach.withStore {
        try await $0.contents(for: rows, of: "daily", isPerUser: true, on: $1)
      }
      #expect(outcomes == Array(repeating: .document(Self.hello), count: 40))
      #expect(Set(scene.host.requests.map(\.target)) == Set(rows.map { "/content/\($0.userID)" }))
      #expect(scene.host.requests.count == 40)
    }
  }

  @Test("a round begins no more fetches after its time, and the next call claims them")
  func round() async throws {
    #expect(ContentConfiguration().roundLimit == .seconds(24))
    try await ContentScene.run(.document(Self.hello)) { (scene) async throws in
      let (rows, source) = (scene.rows(20), try scene.source("/{user_id}"))
      for count in [16, 20, 20] {
        try await scene.withFetcher(roundLimit: .zero) {
          try await $0.refresh(rows, of: "daily", from: source, on: $1)
        }
        #expect(scene.host.requests.count == count)
      }
    }
  }

  @Test("offline first fetches nothing, and what is stored serves")
  func offline() async throws {
    try await ContentScene.run(.document(Self.hello)) { (scene) async throws in
      #expect(try await scene.content(scene.row()) == [.document(Self.hello)])
      try await scene.coach.sql("insert into tacet.notif_config (name, value) values ('mode', '\"offline_first\"')")
      #expect(try await scene.content(scene.row(date: "2026-11-24")) == [.document(Self.hello)])
      #expect(scene.host.requests.count == 1)
    }
  }

  @Test("a private address is refused unless it is allowed, and no request is sent", arguments: [true, false])
  func privateAddress(_ isAllowed: Bool) async throws {
    try await ContentScene.run(.document(Self.hello)) { (scene) async throws in
      let outcomes = try await scene.content(scene.row(), isPrivateAllowed: isAllowed)
      #expect(outcomes == [isAllowed ? .document(Self.hello) : .unavailable("content_missing")])
      #expect(scene.codes == [isAllowed ? "FETCH_STORED" : "FETCH_FORBIDDEN_ADDRESS": 1])
      #expect(scene.host.requests.count == (isAllowed ? 1 : 0))
    }
  }

  @Test("the credential goes to the host, and is in no table, log or description")
  func secrecy() async throws {
    try await ContentScene.run(.document(Self.hello), .status(500)) { (scene) async throws in
      for date in ["2026-11-23", "2026-11-24"] { try await scene.content(scene.row(date: date)) }
      #expect(scene.host.requests.map(\.authorization) == [ContentScene.credential, ContentScene.credential])
      var texts = [try await scene.stored("string_agg(notif_contents::text, ' ')")]
      texts += scene.log.all.map { "\($0.message) \($0.metadata)" }
      var configuration = ContentConfiguration()
      configuration.authorization = Secret(ContentScene.credential)
      texts += ["\(configuration)", String(reflecting: configuration)]
      dump(configuration, to: &texts[0])
      #expect(texts.count == 4 && !texts.contains { $0.contains("credential-of") })
    }
  }
}

@Suite("What a host says, from its answer to the push", .timeLimit(.minutes(5)))
struct ContentRunTests {
  @Test("is in each day's schedule and push, where fetches fail for a day after the last answer, and then no more")
  func days() async throws {
    let answers: [ScriptedHost.Answer] = [
      .document(#"{"headline": "Hello"}"#, etag: #""v1""#), .status(304), .status(500), .status(500),
      .document(#"{"headline": "Bye"}"#),
    ]
    try await ContentScene.run(answers) { (scene) async throws in
      let user = try await scene.addCampaign()
      try await scene.withRunner { runner, scheduler, reactor in
        // Nothing was fetched yet, so there is nothing to say.
        var schedule = try await scheduler.schedule(of: user, days: 1, rowsMax: 64, deviceToken: nil, on: reactor)
        #expect(schedule.isEmpty)
        for (day, end) in [
          "sent||Hello|[Content]", "sent||Hello|[Content]", "sent||Hello|[Content]", "skipped|content_stale||",
          "sent||Bye|[Content]",
        ].enumerated() {
          if day > 0 { try await scene.passDay() }
          _ = await runner.prepareAll(on: reactor)
          #expect(scene.host.requests.count == day + 1)
          if day == 0 {
            schedule = try await scheduler.schedule(of: user, days: 1, rowsMax: 64, deviceToken: nil, on: reactor)
            #expect(schedule.map(\.text.title) == ["Hello"])
            let told = "select count(*) from tacet.pushes where kind = 'schedule_changed'"
            #expect(try await scene.coach.sql(told) == "1")
          }
          #expect(try await scene.pushed(by: runner, on: reactor) == end, "day \(day)")
        }
      }
      #expect(scene.host.requests.map(\.ifNoneMatch) == [nil] + Array(repeating: #""v1""#, count: 4))
      let codes = ["FETCH_STORED": 2, "ETAG_NOT_MODIFIED": 1, "FETCH_STATUS": 2, "TEMPLATE_MISSING_TOKEN": 4]
      #expect(scene.codes == codes)
    }
  }
}

/// A document of so many bytes.
private func largeDocument(_ bytes: Int) -> String {
  let frame = #"{"a": ""}"#
  return #"{"a": ""# + String(repeating: "x", count: bytes - frame.utf8.count) + #""}"#
}

@Suite("Documents of content, and their URLs")
struct ContentDocumentTests {
  @Test(
    "an object of strings is a document",
    arguments: [
      (#"{}"#, #"{}"#), (" {\n} \r\n", #"{}"#), (#"{"b":"2", "a" : "1"}"#, #"{"a":"1","b":"2"}"#),
      (#"{"a":"\u00e4\/\"\n"}"#, #"{"a":"ä/\"\n"}"#), (#"{"a":"{\"b\":[1,]}"}"#, #"{"a":"{\"b\":[1,]}"}"#),
      (#"{"a":"\ud83c\udf31"}"#, #"{"a":"🌱"}"#), (#"{"":""}"#, #"{"":""}"#),
    ])
  func documents(_ answer: String, _ text: String) {
    #expect(ContentSource.document(Array(answer.utf8)) == text)
  }

  @Test(
    "nothing else is",
    arguments: [
      "", " ", "{", "}", "null", "[]", "\"a\"", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":"b"#, #"{"a":"b"}}"#,
      #"{"a":"b"} x"#, #"{"a":"b",}"#, #"{,}"#, #"{"a":1}"#, #"{"a":null}"#, #"{"a":true}"#, #"{"a":["b"]}"#,
      #"{"a":{"b":"c"}}"#, #"{"a":{}}"#, #"{"a":"b","c":2}"#, #"{'a':'b'}"#, #"{a:"b"}"#, #"{"a":"b" "c":"d"}"#,
      #"{"a":"\u0000"}"#, "{\"a\":\"e\(String(repeating: "\u{301}", count: 31))\"}", #"{"\u0000":"a"}"#,
      #"{"a":"\ud83c"}"#, #"{"a":"\x"}"#, "{\"a\":\"b\nc\"}",
      "\u{FEFF}{\"a\":\"b\"}", #"// {"a":"b"}"#, #"{"a":"b"}{"c":"d"}"#, String(repeating: #"{"a":"#, count: 10_000),
    ])
  func malformed(_ answer: String) {
    #expect(ContentSource.document(Array(answer.utf8)) == nil)
  }

  @Test("neither are other encodings, and bytes that are no text")
  func encodings() {
    let utf16 = Array(#"{"a":"b"}"#.utf16)
    #expect(ContentSource.document(utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }) == nil)
    #expect(ContentSource.document(utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }) == nil)
    #expect(ContentSource.document([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x22, 0x7d]) == nil)
  }

  @Test(
    "an id in a URL is escaped",
    arguments: [
      ("7", "7"), ("a/b?c#d&e=ü %", "a%2Fb%3Fc%23d%26e%3D%C3%BC%20%25"), ("A-Z_a.z~0", "A-Z_a.z~0"),
    ])
  func escapes(_ id: String, _ escaped: String) throws {
    let source = try #require(ContentSource("https://host.example/{user_id}/day?user={user_id}"))
    #expect(source.url(for: HostID(text: id)) == "https://host.example/\(escaped)/day?user=\(escaped)")
  }

  @Test("an id that is a step in a path has no URL", arguments: [".", ".."])
  func steps(_ id: String) throws {
    #expect(try #require(ContentSource("https://host.example/{user_id}")).url(for: HostID(text: id)) == nil)
  }

  @Test(
    "a host is named by the definition alone",
    arguments: [
      ("https://host.example", true), ("https://host.example:8443/a?b=c", true), ("https://[2001:db8::1]/", true),
      ("HTTPS://host.example/", false),
      ("http://127.0.0.1:80/", true), ("https://:80/", false), ("https://host.example?u={user_id}", true), ("", false),
      ("host.example", false),
      ("ftp://host.example/", false), ("https://", false), ("https:///path", false), ("https://{user_id}/", false),
      ("https://host.example{user_id}/", false), ("https://user:password@host.example/", false),
      ("https://host.example\\@other.example/", false), ("https://h%6fst.example/", false),
      ("https://hö.example/", false), ("https://host.example/a b", false), ("https://host.example/\r\nX: y", false),
    ])
  func hosts(_ url: String, _ isUsable: Bool) {
    #expect((ContentSource(url) != nil) == isUsable)
  }
}
