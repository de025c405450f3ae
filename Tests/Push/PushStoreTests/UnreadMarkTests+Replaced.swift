import PushRules
import TestIDs
import Testing

@testable import PushStore

// A count that the host replaces while sessions have plans with the default.
extension UnreadMarkTests {
  @Test("a host's own count is asked at once, and the default again, also by a session that has claimed before")
  func replaced() async throws {
    let chat = try await Chat()
    try await chat.register("a1")
    let kept = try await chat.database.sql("select pg_get_functiondef('tacet.unread_count(uuid)'::regprocedure)")
    let badges = try await withStore(chat.database) { store, reactor in
      var badges: [Int?] = []
      for definition in ["select 1", Self.seven, kept] {
        try await chat.database.sql(definition)
        for isOfEverything in [false, true] {
          try await chat.send()
          let limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(60))
          let events =
            try await isOfEverything ? store.claim(limits, on: reactor) : store.claimMessages(limits, on: reactor)
          badges += events.flatMap(\.recipients).map(\.badge)
        }
      }
      return badges
    }
    #expect(badges == [1, 2, 7, 7, 5, 6])
  }

  @Test("a session that has counted for many and moved marks asks a new count, too")
  func replacedForMany() async throws {
    let chat = try await Chat(readers: 9)
    let readers = Self.sorted(chat.readers)
    let use =
      "select tacet.move_unread_marks(\(readers)); select tacet.unread_counts(\(readers), '1 hour') = array_fill(%, '{9}');"
    try await chat.send()
    let (before, after) = (use.replacing("%", with: "1::bigint"), use.replacing("%", with: "7::bigint"))
    #expect(try await chat.database.sql("\(before) \(Self.seven); \(after)").filter("tf".contains) == "tt")
  }
}
