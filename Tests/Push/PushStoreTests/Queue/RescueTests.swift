import Foundation
import Postgres
import PushRules
import Reactors
import Testing

@testable import PushStore

@Suite("Rescues")
struct PushStatementsRescueTests {
  @Test("no more is taken than asked for, though the statistics know of no rows", arguments: StuckWork.allCases)
  func limited(_ work: StuckWork) async throws {
    try await withSessions(try await work.database(rows: 5), 1) { sessions, reactor in
      var taken: [Int64] = []
      for _ in 0..<4 { taken.append(try await sessions[0].rescue(work, rowsMax: 2, on: reactor)) }
      #expect(taken == [2, 2, 1, 0])
    }
  }

  @Test("what somebody has locked is passed by, and taken afterwards", arguments: StuckWork.allCases)
  func locked(_ work: StuckWork) async throws {
    try await withTwoSessions(try await work.database(rows: 3)) { other, service, reactor in
      try await other.run("begin; select from \(work.table) limit 1 for update", on: reactor)
      #expect(try await service.rescue(work, rowsMax: 9, on: reactor) == 2)
      try await other.run("commit", on: reactor)
      #expect(try await service.rescue(work, rowsMax: 9, on: reactor) == 1)
    }
  }

  @Test("what waited for its lane for longer than its life, holds apart, is released by one process at a time")
  func expired() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, held_us, subject_id, user_id, kind, state, lane)
      select now(), now() - r.age, r.held_us, gen_random_uuid(), gen_random_uuid(), 'message', 'waiting', 'a/production'
      from (values
        (interval '59 min', 0), (interval '61 min', 0), (interval '9 h', 29400000000), (interval '9 h', 28600000000),
        (interval '10 min', 0)
      ) as r (age, held_us)
      """)
    try await withTwoSessions(database) { other, service, reactor in
      try await other.run("begin; select pg_advisory_xact_lock(1952539493, 3)", on: reactor)
      #expect(try await service.rescue(.waiting, rowsMax: 9, on: reactor) == 0)
      try await other.run("commit", on: reactor)
      #expect(try await service.rescue(.waiting, rowsMax: 9, on: reactor) == 2)
      #expect(try await service.rescue(.waiting, rowsMax: 9, on: reactor) == 0)
    }
    let released =
      "select extract(epoch from sum(now() - enqueued_at))::int / 60 from tacet.deliveries where state = 'retryable'"
    #expect(try await database.sql(released) == "601")
    let plan = try await database.explain(PushStatements.releaseExpired, "3600000000, 500", "force_generic_plan")
    #expect(plan.contains("Index Scan using deliveries_expiry_idx"), "\(plan)")
  }

  @Test("a new event from a clock that was ahead is brought forward; what is claimed, and what is for later, stays")
  func future() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.send()
    try await chat.database.sql(
      """
      update tacet.inbox set
        available_at = now() + interval '1 h', enqueued_at = now() + interval '1 h',
        is_claimed = subject_id <> '\(message)';
      insert into tacet.inbox (subject_id, kind, available_at, enqueued_at) values
        (gen_random_uuid(), 'read_sync', now() + interval '1 h', now() + interval '1 h'),
        (gen_random_uuid(), 'push', now() + interval '1 h', now() - interval '1 s')
      """)
    #expect(try await claim(chat.database) == [])
    try await withStore(chat.database) { try await $0.bringForward(on: $1) }
    #expect(try await claim(chat.database).map(\.subject) == [.message(message)])
  }

  @Test("what was held when it was parked is no older after a replay", arguments: [true, false])
  func held(_ isRefused: Bool) async throws {
    let scene = try await HeldScene.waiting()
    try await scene.chat.record(try await claim(scene.chat.database)) { .held($0, for: .zero) }
    try await scene.chat.database.sql(
      """
      update tacet.deliveries set
        held_us = 1000000, since = now() - interval '8 h', enqueued_at = now() - interval '8 h', rescues = 6
      """)
    if isRefused {
      try await scene.chat.database.sql("update tacet.deliveries set is_claimed = true, attempts = 7")
      try await withSessions(scene.chat.database, 1) { sessions, reactor in
        try await sessions[0].connection.query(
          .parkRefused(
            subjectID: scene.message, kind: "message", userID: scene.chat.reader, attempts: 7, reason: "refused"),
          on: reactor)
      }
    } else {
      let parked = try await withStore(scene.chat.database) {
        try await $0.parkExhausted(rescuesMax: 6, rowsMax: 1, on: $1)
      }
      #expect(parked == 1)
    }
    let hours = "select round(held_us / 3600e6, 1) from tacet."
    #expect(try await scene.chat.database.sql(hours + "parked") == "8.0")
    #expect(try await scene.chat.database.sql("select tacet.replay('\(scene.message)')") == "1")
    #expect(try await scene.chat.database.sql(hours + "deliveries") == "8.0")
    let situation = try #require(try await claim(scene.chat.database).first?.recipients.first?.situation)
    #expect(situation.heldFor >= .seconds(8 * 3600))
  }

  @Test(
    "rows are addressed by their place, though the statistics know of no rows",
    arguments: ["force_custom_plan", "force_generic_plan"], StuckWork.allCases)
  func plans(_ mode: String, _ work: StuckWork) async throws {
    let database = try await work.database(rows: 1)
    let plan = try await database.explain(work.statement, "\(work.bound), 500", mode)
    #expect(plan.contains("Tid Scan on \(work.table.dropFirst("tacet.".count))"), "\(plan)")
    #expect(!plan.contains("Seq Scan"), "\(plan)")
  }
}

/// Work that no claim gets any further.
enum StuckWork: CaseIterable, Sendable {
  case event, delivery, waiting

  var table: String { self == .event ? "tacet.inbox" : "tacet.deliveries" }

  var statement: PostgresStatement { self == .waiting ? PushStatements.releaseExpired : PushStatements.parkExhausted }

  /// Rescues, or the life of a message in microseconds.
  var bound: Int64 { self == .waiting ? 3_600_000_000 : 6 }

  /// Has as many rows of it, and took its statistics when there were none: the pages stayed, and are believed empty.
  func database(rows: Int) async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    try await database.sql("\(insertion(rows)); delete from \(table)")
    try await database.sql("vacuum analyze \(table)")
    try await database.sql(insertion(rows))
    return database
  }

  private func insertion(_ rows: Int) -> String {
    switch self {
    case .event:
      """
      insert into tacet.inbox (available_at, subject_id, kind, is_claimed, rescues)
      select now(), gen_random_uuid(), 'message', true, 6 from generate_series(1, \(rows))
      """
    case .delivery:
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, is_claimed, rescues)
      select now(), now(), gen_random_uuid(), gen_random_uuid(), 'message', 'held', true, 6
      from generate_series(1, \(rows))
      """
    case .waiting:
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, lane)
      select now(), now() - interval '2 h', gen_random_uuid(), gen_random_uuid(), 'message', 'waiting', 'production'
      from generate_series(1, \(rows))
      """
    }
  }
}

extension Session {
  /// The number of rows that were parked or released.
  func rescue(_ work: StuckWork, rowsMax: Int64, on reactor: isolated Reactor) async throws -> Int64 {
    try await connection.query(work.statement, [work.bound, rowsMax], on: reactor).one().decode(0)
  }
}
