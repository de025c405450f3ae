import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Documents of slot campaigns")
struct ContentTests {
  private static let url = "https://host.example/content"
  fileprivate static let ada = HostID.new()

  /// A row of today that is due in so many seconds.
  fileprivate static func row(
    _ slot: String = "0800", of userID: HostID = ada, in seconds: Double = 600, date: String = "2026-11-23"
  ) -> Occasion {
    let fireAt = Int64((Date().timeIntervalSince1970 + seconds) * 1_000_000)
    return Occasion(
      campaign: "daily", userID: userID, slot: slot, fireDate: date, fireAt: fireAt, timeZone: "Europe/Vienna")
  }

  @Test(
    "a fetch is claimed within the lead, and not before it or after the slot",
    arguments: [(1260, false), (1140, true), (60, true), (-1, false)] as [(Double, Bool)])
  func window(_ seconds: Double, _ isDue: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let due = try await store.claim([Self.row(in: seconds)], on: reactor)
      #expect(due == (isDue ? [DueContent(key: ContentKey(slot: "0800"), fireDate: "2026-11-23", etag: nil)] : []))
    }
  }

  @Test("all users of a slot share an attempt a day, and those who are on a later day begin the next")
  func shared() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let rows = [Self.row(), Self.row(of: .new()), Self.row(of: .new(), date: "2026-11-22"), Self.row("0801")]
      let due = try await store.claim(rows, on: reactor)
      #expect(due.map(\.key.slot).sorted() == ["0800", "0801"] && due.allSatisfy { $0.fireDate == "2026-11-23" })
      #expect(try await store.claim(rows, on: reactor) == [])
      #expect(try await store.claim([Self.row(date: "2026-11-22")], on: reactor) == [])
      #expect(try await store.claim([Self.row(date: "2026-11-24")], on: reactor).map(\.fireDate) == ["2026-11-24"])
    }
  }

  @Test("an attempt that nobody has noted the end of is made again after its lease, and one that ended is not")
  func killed() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let rows = [Self.row()]
      func age(_ interval: String) async throws {
        try await database.sql("update tacet.notif_contents set attempted_at = now() - interval '\(interval)'")
      }
      #expect(try await store.claim(rows, on: reactor).count == 1)
      try await age("1 s")
      #expect(try await store.claim(rows, on: reactor).isEmpty)
      try await age("31 s")
      let again = try await store.claim(rows, on: reactor)
      #expect(again.count == 1)
      try await store.fail(try #require(again.first), of: "daily", code: "FETCH_STATUS", on: reactor)
      try await age("31 s")
      #expect(try await store.claim(rows, on: reactor).isEmpty)
      let next = try await store.claim([Self.row(date: "2026-11-24")], on: reactor)
      try await store.put("{}", from: try #require(next.first), on: reactor)
      try await age("31 s")
      #expect(try await store.claim([Self.row(date: "2026-11-24")], on: reactor).isEmpty)
    }
  }

  @Test("each user has an attempt where the URL names the user, apart from that of all users")
  func perUser() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let rows = [Self.row(), Self.row(of: .new()), Self.row(of: .new())]
      let first = try await store.claim(rows, isPerUser: true, contentsMax: 2, on: reactor)
      let rest = try await store.claim(rows, isPerUser: true, contentsMax: 2, on: reactor)
      #expect(first.count == 2 && rest.count == 1)
      #expect(Set((first + rest).map(\.key.userID)) == Set(rows.map(\.userID)))
      #expect(try await store.claim(rows, isPerUser: true, on: reactor) == [])
      #expect(try await store.claim(rows, on: reactor).map(\.key.userID) == [nil])
    }
  }

  @Test("of two processes one gets the attempt; the other when the first gives up", arguments: [true, false])
  func race(_ isCommitted: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await withTwoSessions(database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.claim(Self.row(), on: reactor) == 1)
      let begun = Begun.begin(on: reactor) { try await second.claim(Self.row(of: .new()), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? 0 : 1))
    }
  }

  @Test("a document is usable for its time to live from the slot that it was fetched for, by each user's clock")
  func timeToLive() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let due = try #require(try await store.claim([Self.row()], on: reactor).first)
      try await store.put(#"{"a":"b"}"#, from: due, on: reactor)
    }
    #expect(try await database.sql("select fresh_until - fetched_at from tacet.notif_contents") == "1 day")
    // Of the day before the clock is set back in Vienna, fetched 19 minutes before the slot.
    try await database.sql(
      """
      update tacet.notif_contents
      set content_date = '2026-10-24', fetched_at = '2026-10-24 07:41+02', fresh_until = '2026-10-25 07:41+02'
      """)
    let moments = [
      ("Europe/Vienna", "2026-10-24T08:00:00+02:00", true), ("Europe/Vienna", "2026-10-25T08:00:00+01:00", true),
      ("Europe/Vienna", "2026-10-25T08:00:01+01:00", false), ("America/New_York", "2026-10-25T08:00:00-04:00", true),
      ("America/New_York", "2026-10-25T08:00:01-04:00", false),
    ]
    let rows = try moments.map { zone, moment, _ in
      let fireAt = Int64(try Date(moment, strategy: .iso8601).timeIntervalSince1970 * 1_000_000)
      return Occasion(
        campaign: "daily", userID: Self.ada, slot: "0800", fireDate: "2026-10-25", fireAt: fireAt, timeZone: zone)
    }
    let outcomes = try await withStore(database) {
      try await $0.contents(for: rows, of: "daily", isPerUser: false, on: $1)
    }
    #expect(outcomes.map { $0 != .unavailable("content_stale") } == moments.map(\.2))
    try await database.sql(
      "update tacet.notif_contents set fetched_at = now(), fresh_until = now() + interval '1 day', content_date = null")
    #expect(try await withStore(database) { try await $0.outcome(on: $1) } == .document(#"{"a": "b"}"#))
    try await database.sql("update tacet.notif_contents set fresh_until = clock_timestamp() - interval '1 s'")
    #expect(try await withStore(database) { try await $0.outcome(on: $1) } == .unavailable("content_stale"))
  }

  @Test("an answer to the attempt of an earlier day comes too late, and 304 makes a stale document fresh")
  func attempts() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let first = try #require(try await store.claim([Self.row()], on: reactor).first)
      try await store.put(#"{"a":"b"}"#, from: first, on: reactor)
      let second = try #require(try await store.claim([Self.row(date: "2026-11-24")], on: reactor).first)
      #expect(second.etag == "\"1\"")
      try await store.put(#"{"a":"c"}"#, from: second, on: reactor)
      try await store.put(#"{"a":"old"}"#, from: first, on: reactor)
      #expect(try await store.outcome(on: reactor) == .document(#"{"a": "c"}"#))
    }
    try await database.sql("update tacet.notif_contents set fresh_until = clock_timestamp() - interval '1 s'")
    try await withStore(database) { store, reactor in
      let third = try #require(try await store.claim([Self.row(date: "2026-11-25")], on: reactor).first)
      #expect(try await store.outcome(on: reactor) == .unavailable("content_stale"))
      try await store.put(nil, from: third, on: reactor)
      #expect(try await store.outcome(on: reactor) == .document(#"{"a": "c"}"#))
    }
  }

  @Test("a failure is noted, and the document and its version stay; another URL begins without a version")
  func failure() async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let first = try #require(try await store.claim([Self.row()], on: reactor).first)
      try await store.put(#"{"a":"b"}"#, from: first, on: reactor)
      let second = try #require(try await store.claim([Self.row(date: "2026-11-24")], on: reactor).first)
      try await store.fail(second, of: "daily", code: "FETCH_TIMEOUT", on: reactor)
      #expect(try await store.outcome(on: reactor) == .document(#"{"a": "b"}"#))
    }
    #expect(try await database.sql("select etag, failure_code from tacet.notif_contents") == "\"1\"|FETCH_TIMEOUT")
    try await withStore(database) { store, reactor in
      let other = try await store.claim([Self.row(date: "2026-11-25")], url: "https://other.example", on: reactor)
      #expect(other.map(\.etag) == [nil])
    }
  }

  @Test("flags that are not in the table have their defaults, and the table refuses unknown flags and values")
  func flags() async throws {
    let database = try await TestDatabase.migrated()
    #expect(try await withStore(database) { try await $0.configFlags(on: $1) } == SlotFlags())
    try await database.sql(
      """
      insert into tacet.notif_config (name, value) values ('mode', '"offline_first"'), ('prefetchLeadMinutes', '5'),
        ('ttlSeconds', '3600'), ('runnerRearm', 'true'), ('androidChannelId', '"a.b"'),
        ('androidChannelName', '"Erinnerungen für jeden Tag"')
      """)
    var expected = SlotFlags()
    (expected.mode, expected.prefetchLeadMinutes, expected.ttlSeconds) = (.offlineFirst, 5, 3600)
    (expected.runnerRearm, expected.androidChannelId) = (true, "a.b")
    expected.androidChannelName = "Erinnerungen für jeden Tag"
    #expect(try await withStore(database) { try await $0.configFlags(on: $1) } == expected)
    let refused = [
      "'modus', '1'", "'mode', '\"online\"'", "'ttlSeconds', '0'", "'ttlSeconds', '1209601'", "'ttlSeconds', '1.5'",
      "'ttlSeconds', '\"1\"'", "'prefetchLeadMinutes', '1441'", "'runnerRearm', '\"true\"'", "'scheduler', 'null'",
      "'iosCategoryIdentifier', '\"\"'", "'prefetchRunner', '\"x\"'",
      "'androidChannelName', '\"\"'", "'androidChannelName', '1'",
    ]
    for values in refused {
      await #expect(throws: (any Error).self, "\(values)") {
        try await database.sql(
          "delete from tacet.notif_config; insert into tacet.notif_config (name, value) values (\(values))")
      }
    }
  }
}

extension PushDatabase {
  fileprivate func claim(
    _ rows: [Occasion], url: String = "https://host.example/content", isPerUser: Bool = false, contentsMax: Int = 16,
    on reactor: isolated Reactor
  ) async throws -> [DueContent] {
    try await claimContents(
      for: rows, of: "daily", at: url, isPerUser: isPerUser, lead: .seconds(1200), contentsMax: contentsMax, on: reactor
    )
  }

  fileprivate func put(
    _ document: String?, from due: DueContent, on reactor: isolated Reactor
  ) async throws {
    try await store(
      document, etag: document.map { _ in "\"1\"" }, from: due, of: "daily", at: "https://host.example/content",
      timeToLive: .seconds(86_400), on: reactor)
  }

  /// What is stored for all users of 0800.
  fileprivate func outcome(on reactor: isolated Reactor) async throws -> ContentOutcome? {
    try await contents(for: [ContentTests.row()], of: "daily", isPerUser: false, on: reactor).first
  }
}

extension Session {
  /// Over a connection whose transaction may be open.
  /// - Returns: the number of fetches.
  fileprivate func claim(_ row: Occasion, on reactor: isolated Reactor) async throws -> Int {
    let none: HostID? = nil
    return try await connection.query(
      .claimContents(
        campaign: "daily", url: "https://host.example/content", slots: [row.slot], userIDs: [none],
        fireDates: [row.fireDate], fireMicroseconds: [row.fireAt], leadMicroseconds: Int64(1_200_000_000),
        leaseMicroseconds: Int64(30_000_000),
        contentsMax: 16), on: reactor
    ).count
  }
}
