import Foundation
import Postgres
import PushKinds
import Reactors
import Testing

@testable import PushStore

@Suite("Leases")
struct LeaseTests {
  @Test("what is claimed is found by nobody until its lease is over, then with one more attempt")
  func expires() async throws {
    let chat = try await Chat()
    try await chat.send()
    #expect(try await claim(chat.database).map(\.attempts) == [1])
    #expect(try await claim(chat.database) == [])
    try await chat.database.sql("update tacet.inbox set leased_until = clock_timestamp()")
    #expect(try await claim(chat.database, lease: .microseconds(1)).map(\.attempts) == [2])
    #expect(try await claim(chat.database).map(\.attempts) == [3])
  }

  @Test("the lease is what is due next")
  func due() async throws {
    let chat = try await Chat()
    try await withStore(chat.database) { store, reactor in
      #expect(try await store.timeUntilNextDue(on: reactor) == nil)
      _ = try await chat.send()
      #expect(try #require(try await store.timeUntilNextDue(on: reactor)) <= .zero)
      _ = try await store.claim(ClaimLimits(eventsMax: 1, deliveriesMax: 0, lease: .seconds(600)), on: reactor)
      let wait = try #require(try await store.timeUntilNextDue(on: reactor))
      #expect((.seconds(600) - patience...(.seconds(600))).contains(wait))
    }
  }

  @Test("claims write no index entries, however many rows of a page they take, nor do records of parts")
  func heapOnly() async throws {
    let chat = try await Chat(readers: 2)
    func insertion(_ count: Int) -> String {
      """
      insert into public.messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, \(count))
      """
    }
    let (one, many) = (insertion(1), insertion(1000))
    try await withSessions(chat.database, 1) { sessions, reactor in
      let session = sessions[0]
      var limits = ClaimLimits(eventsMax: 500, deliveriesMax: 0, lease: .seconds(60))
      limits.recipientsMax = 1
      try await session.run(one, on: reactor)
      let rows = try await session.connection.query(.claimMessages(limits), on: reactor)
      let part = try ClaimRow.events(from: rows, columns: ClaimRow.claimMessages, recipientsMax: 1)
      #expect(part.map(\.hasMore) == [true])
      try await session.record(part, on: reactor) { .sent($0) }
      #expect(try await session.updates(on: reactor) == "(2,2)")
      try await session.run(many, on: reactor)
      try await session.connection.query(.claim(limits), on: reactor)
      #expect(try await session.updates(on: reactor) == "(502,502)")
      try await session.connection.query(.claimMessages(limits), on: reactor)
      #expect(try await session.updates(on: reactor) == "(1002,1002)")
    }
  }

  @Test("leases that are over are looked for when asked, and only then")
  func askedFor() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withStore(chat.database) { store, reactor in
      var limits = ClaimLimits(eventsMax: 9, deliveriesMax: 9, lease: .zero)
      limits.takesLost = false
      let first = try await store.claim(limits, on: reactor)
      let others = try await store.claim(limits, on: reactor)
      let leased = try await store.lease(limits, on: reactor)
      #expect(first.map(\.attempts) == [1] && others == [] && leased == [])
      limits.takesLost = true
      let again = try await store.claim(limits, on: reactor)
      let leasedAgain = try await store.lease(limits, on: reactor)
      #expect(again.map(\.attempts) == [2] && leasedAgain.count == 1)
    }
  }

  @Test("below a backlog nothing lost is found, until it is brought up; a running lease and what is free stay")
  func broughtUp() async throws {
    let chat = try await Chat()
    let lost = try await chat.send()
    #expect(try await claim(chat.database, lease: .zero).count == 1)
    let running = try await chat.send()
    #expect(try await claim(chat.database).map(\.subject.id).contains(running))
    try await chat.database.sql("update tacet.inbox set leased_until = now() where subject_id = '\(lost)'")
    let backlog = ClaimLimits.lostRowsMax + 100
    try await withStore(chat.database) { store, reactor in
      let limits = ClaimLimits(eventsMax: 0, deliveriesMax: 9, lease: .seconds(60))
      let early = try await store.bringUpLost(firstPage: 0, pagesMax: 9, on: reactor)
      #expect(early.rows == 0 && early.nextPage == 0)
      try await chat.database.sql(
        """
        insert into tacet.inbox (subject_id, kind) select gen_random_uuid(), 'message' from generate_series(1, \(backlog))
        """)
      let started = ContinuousClock.now
      #expect(try await store.claim(limits, on: reactor) == [])
      #expect(ContinuousClock.now - started < .seconds(1))
      var (rows, page, looks) = (0, 0, 0)
      repeat {
        let part = try await store.bringUpLost(firstPage: page, pagesMax: 100, on: reactor)
        (rows, page, looks) = (rows + part.rows, part.nextPage, looks + 1)
      } while page > 0
      #expect(rows == 1 && looks > 2)
      #expect(try await store.claim(limits, on: reactor).map(\.subject.id) == [lost])
    }
    let moved = "select count(*) from tacet.inbox where available_at > enqueued_at + interval '1 ms'"
    #expect(try await chat.database.sql(moved) == "1")
  }

  @Test("no more is claimed than asked for, the newest first, in the order of their commits")
  func bounded() async throws {
    let chat = try await Chat()
    var messages: [UUID] = []
    for _ in 0..<3 { messages.append(try await chat.send()) }
    var claimed: [[UUID]] = []
    for count in [0, 2, 2] { claimed.append(try await claim(chat.database, eventsMax: count).map(\.subject.id)) }
    #expect(claimed == [[], Array(messages.suffix(2)), Array(messages.prefix(1))])
  }

  @Test("two sessions that claim at the same moment share nothing and leave nothing")
  func disjoint() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, 1000)
      """)
    try await withSessions(chat.database, 2) { sessions, reactor in
      // The first keeps its transaction open, so that the second meets its locks.
      try await sessions[0].run("begin", on: reactor)
      let first = try await subjects(of: sessions[0], 500, on: reactor)
      let second = try await subjects(of: sessions[1], 500, on: reactor)
      try await sessions[0].run("commit", on: reactor)
      #expect(first.count == 500)
      #expect(second.count == 500)
      #expect(first.isDisjoint(with: second))
      #expect(try await subjects(of: sessions[1], 500, on: reactor) == [])
    }
  }

  @Test("many claims at once take every event exactly once")
  func racing() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, 1000)
      """)
    try await withStore(chat.database, sessions: 4) { store, reactor in
      let claims = (0..<20).map { _ in
        Begun.begin(on: reactor) {
          try await store.claim(ClaimLimits(eventsMax: 100, deliveriesMax: 0, lease: .seconds(600)), on: reactor)
        }
      }
      var subjects: [PushSubject] = []
      for claim in claims { subjects += try await claim.value(on: reactor).map(\.subject) }
      subjects += try await store.claim(
        ClaimLimits(eventsMax: 1000, deliveriesMax: 0, lease: .seconds(600)), on: reactor
      )
      .map(\.subject)
      #expect(subjects.count == 1000)
      #expect(Set(subjects).count == 1000)
    }
  }

  private func subjects(
    of session: Session, _ count: Int, on reactor: isolated Reactor
  ) async throws -> Set<PushSubject> {
    let limits = ClaimLimits(eventsMax: count, deliveriesMax: 0, lease: .seconds(600))
    let rows = try await session.connection.query(.claim(limits), on: reactor)
    let events = try ClaimRow.events(from: rows, columns: ClaimRow.claim, recipientsMax: limits.recipientsMax)
    return Set(events.map(\.subject))
  }
}

extension Session {
  /// How many updates of the inbox this session has made, and how many of them wrote no index entry.
  fileprivate func updates(on reactor: isolated Reactor) async throws -> String {
    let counts = ["", "hot_"].map { "pg_stat_get_tuples_\($0)updated('tacet.inbox'::regclass)" }
    try await run("select pg_stat_force_next_flush(); select pg_stat_clear_snapshot()", on: reactor)
    return try await rows("select \(counts[0]), \(counts[1])", on: reactor)
  }
}
