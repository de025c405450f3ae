import Foundation
import Postgres
import PushRules
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
    try await chat.database.sql("update tacet.inbox set available_at = clock_timestamp()")
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

  @Test("no more is claimed than asked for, the newest first, in the order of their commits")
  func bounded() async throws {
    let chat = try await Chat()
    var messages: [HostID] = []
    for _ in 0..<3 { messages.append(try await chat.send()) }
    var claimed: [[HostID]] = []
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
