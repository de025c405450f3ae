import Foundation
import PushKinds
import Reactors
import Testing

@testable import PushStore

/// A service of version 32 and one of this version, on one database.
@Suite("An older service beside this one")
struct OlderServiceTests {
  @Test(
    "what one has claimed is neither free nor lost for the other, and its own record finishes it",
    arguments: ServiceVersion.allCases, [true, false])
  func leased(_ version: ServiceVersion, _ messages: Bool) async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    try await withTwoSessions(chat.database) { session, other, reactor in
      let claimed = try await session.claim(as: version, messages: messages, on: reactor)
      #expect(claimed.count == 3)
      for messages in [true, false] {
        #expect(try await other.claim(as: version.other, messages: messages, on: reactor) == [])
      }
      #expect(try await other.rescue(as: version.other, rescuesMax: 0, on: reactor) == 0)
      try await session.record(claimed, as: version, on: reactor) { .sent($0) }
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*), min(attempts), max(attempts) from push_log") == "3|1|1")
  }

  @Test("the newer one takes over what the older one has lost, whose late record then changes nothing")
  func lostByOlder() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withTwoSessions(chat.database) { older, newer, reactor in
      let lost = try await older.claim(as: .older, lease: .zero, on: reactor)
      let claimed = try await newer.claim(as: .newer, on: reactor)
      #expect(claimed.map(\.attempts) == [2])
      #expect(try await older.claim(as: .older, on: reactor) == [])
      try await older.record(lost, as: .older, on: reactor) { .skipped($0) }
      #expect(try await newer.rows("select attempts, rescues from tacet.inbox", on: reactor) == "(2,1)")
      try await newer.record(claimed, as: .newer, on: reactor) { .sent($0) }
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select decision, attempts from push_log") == "sent|2")
  }

  @Test("what the newer one has lost is left to it; after going back, a statement gives it to the older one")
  func lostByNewer() async throws {
    let chat = try await Chat()
    for _ in 0..<2 { try await chat.send() }
    try await withTwoSessions(chat.database) { older, newer, reactor in
      #expect(try await newer.claim(as: .newer, lease: .zero, on: reactor).map(\.attempts) == [1, 1])
      #expect(try await older.claim(as: .older, on: reactor) == [])
      #expect(try await older.rescue(as: .older, rescuesMax: 0, on: reactor) == 0)
      let again = try await newer.claim(as: .newer, eventsMax: 1, lease: .zero, on: reactor)
      #expect(again.map(\.attempts) == [2, 2])
      // As db/README.md says.
      try await older.run("update tacet.inbox set is_claimed = true where is_claimed is null", on: reactor)
      let claimed = try await older.claim(as: .older, on: reactor)
      #expect(claimed.map(\.attempts) == [3, 3])
      try await older.record(claimed, as: .older, on: reactor) { .sent($0) }
    }
    #expect(try await chat.left() == "0|0")
  }

  @Test("a large event is told in parts by both in turn", arguments: ServiceVersion.allCases)
  func parts(_ first: ServiceVersion) async throws {
    let chat = try await Chat(readers: 5)
    try await chat.send()
    try await withTwoSessions(chat.database) { session, other, reactor in
      var told: [UUID] = []
      for (session, version) in [(session, first), (other, first.other), (session, first)] {
        let part = try await session.claim(as: version, recipientsMax: 2, on: reactor)
        told += part.flatMap(\.recipients).map(\.userID)
        try await session.record(part, as: version, on: reactor) { .sent($0) }
      }
      #expect(told == chat.readers)
    }
    #expect(try await chat.left() == "0|0")
  }

  @Test("both claim and record at the same time: each message once, and none is left")
  func racing() async throws {
    let chat = try await Chat()
    let count = 600
    try await chat.database.sql(
      "insert into messages (conversation_id, from_id) select '\(chat.id)', '\(chat.sender)' from generate_series(1, \(count))"
    )
    try await withSessions(chat.database, 4) { sessions, reactor in
      let services = sessions.enumerated().map { number, session in
        Begun.begin(on: reactor) {
          let version: ServiceVersion = number.isMultiple(of: 2) ? .older : .newer
          var claimed: [PushSubject] = []
          while let events = try await session.batch(as: version, round: claimed.count, on: reactor) {
            claimed += events.map(\.subject)
            try await session.record(events, as: version, on: reactor) { .sent($0) }
          }
          return claimed
        }
      }
      var claimed: [[PushSubject]] = []
      for service in services { claimed.append(try await service.value(on: reactor)) }
      #expect(claimed.joined().count == count)
      #expect(Set(claimed.joined()).count == count)
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*), max(attempts) from push_log") == "\(count)|1")
  }
}

extension Session {
  /// Claims in turn by either statement; nil when nothing is left.
  fileprivate func batch(
    as version: ServiceVersion, round: Int, on reactor: isolated Reactor
  ) async throws -> [PushEvent]? {
    for messages in [round.isMultiple(of: 2), !round.isMultiple(of: 2)] {
      let events = try await claim(as: version, messages: messages, eventsMax: 7, on: reactor)
      if !events.isEmpty { return events }
    }
    return nil
  }
}
