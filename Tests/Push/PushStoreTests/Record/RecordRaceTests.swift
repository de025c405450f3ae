import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Two first records of a recipient")
struct FirstRecordRaceTests {
  /// Holds back whoever writes a ledger row, unless told otherwise, after `on conflict` has looked for it and before any
  /// index knows of it: the expression belongs to the index that is written first, because it is the oldest. The primary
  /// key comes before the other one, as it does in a host's database.
  private static let gate = """
    create function gate(id uuid) returns uuid language plpgsql immutable as $$
    begin
      if current_setting('tests.passes', true) is distinct from 'on' then
        perform pg_advisory_xact_lock(1);
      end if;
      return id;
    end
    $$;
    create index gate_idx on tacet.push_log (public.gate(id));
    alter table tacet.push_log drop constraint push_log_pkey;
    alter table tacet.push_log add primary key (id);
    drop index tacet.push_log_subject_idx;
    create unique index push_log_subject_idx on tacet.push_log (subject_id, user_id, push_type)
    """

  private static let isHeldBack = """
    select exists (
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and not l.granted
    )
    """

  @Test("the one whose row comes second is written again and finds the first", .uuidsOnly)
  func race() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql(Self.gate)
    try await withSessions(chat.database, 2) { sessions, reactor in
      let (witness, other) = (sessions[0], sessions[1])
      let late = try await other.claim(lease: .zero, on: reactor)
      let claimed = try await other.claim(on: reactor)
      try await witness.run("select pg_advisory_lock(1)", on: reactor)
      let record = Begun.begin(on: reactor) { [chat] in try await chat.record(claimed) { .skipped($0) } }
      try await witness.awaitTrue(Self.isHeldBack, on: reactor)
      try await other.run("set tests.passes = on", on: reactor)
      try await other.record(late, on: reactor) { .sent($0) }
      try await witness.run("select pg_advisory_unlock(1)", on: reactor)
      try await record.value(on: reactor)
    }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
    #expect(try await chat.left() == "0|0")
  }

  @Test("a row that nobody can write is refused all the same")
  func refused() async throws {
    let chat = try await Chat()
    try await chat.send()
    let events = try await claim(chat.database)
    try await chat.record(events) { .sent($0) }
    try await chat.database.sql("update tacet.push_log set subject_id = gen_random_uuid()")
    await #expect {
      try await chat.record(events) { .sent($0) }
    } throws: {
      ($0 as? PostgresError)?.sqlState == .uniqueViolation
    }
    #expect(try await chat.database.sql("select count(*) from tacet.push_log") == "1")
  }
}

@Suite("Two owners of a delivery")
struct OwnershipRaceTests {
  @Test("of two records of one claim the second waits, finds nothing of its own, and adds only a later acceptance")
  func twice() async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      let claimed = try await first.claim(on: reactor)
      try await first.beginRecord(claimed, on: reactor) { .sent($0) }
      let again = Begun.begin(on: reactor) {
        try await second.record(claimed, on: reactor) { .sent($0, to: ["aa", "bb"]) }
      }
      try await first.awaitBlocked(second, on: reactor)
      #expect(!again.isFinished)
      try await first.run("commit", on: reactor)
      try await again.value(on: reactor)
      #expect(try await first.rows("select decision, devices_accepted from tacet.push_log", on: reactor) == "(sent,2)")
    }
    #expect(try await scene.chat.left() == "0|0")
  }

  @Test("of two records of one claim the second counts when the first is rolled back")
  func twiceRolledBack() async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { first, second, reactor in
      let claimed = try await first.claim(on: reactor)
      try await first.beginRecord(claimed, on: reactor) { .sent($0) }
      let again = Begun.begin(on: reactor) { try await second.record(claimed, on: reactor) { .skipped($0) } }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("rollback", on: reactor)
      try await again.value(on: reactor)
      #expect(try await first.rows("select decision from tacet.push_log", on: reactor) == "(skipped)")
    }
    #expect(try await scene.chat.left() == "0|0")
  }

  @Test(
    "a record that meets the claim of its successor waits for it, and yields if that is committed",
    arguments: [true, false])
  func recordDuringClaim(_ isCommitted: Bool) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { successor, late, reactor in
      let claimed = try await late.claim(lease: .zero, on: reactor)
      try await successor.run("begin", on: reactor)
      #expect(try await successor.claim(on: reactor).map(\.attempts) == claimed.map { $0.attempts + 1 })
      let record = Begun.begin(on: reactor) { try await late.record(claimed, on: reactor) { .skipped($0) } }
      try await successor.awaitBlocked(late, on: reactor)
      try await successor.run(isCommitted ? "commit" : "rollback", on: reactor)
      try await record.value(on: reactor)
    }
    #expect(try await scene.chat.left() == (isCommitted ? "0|1" : "0|0"))
    #expect(
      try await scene.chat.database.sql("select decision from tacet.push_log") == (isCommitted ? "held" : "skipped"))
  }

  @Test("a claim passes by what is being recorded, though its lease is over")
  func claimDuringRecord() async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { owner, successor, reactor in
      let claimed = try await owner.claim(lease: .zero, on: reactor)
      try await owner.beginRecord(claimed, on: reactor) { .sent($0) }
      #expect(try await successor.claim(on: reactor) == [])
      try await owner.run("commit", on: reactor)
      #expect(try await successor.claim(on: reactor) == [])
    }
    #expect(try await scene.chat.left() == "0|0")
  }

  @Test("records of the same deliveries in opposite orders do not wait for each other in a circle")
  func oppositeOrders() async throws {
    let chat = try await Chat(readers: 40)
    try await chat.send()
    try await chat.record(try await claim(chat.database)) { .held($0, for: .zero) }
    try await withSessions(chat.database, 3) { sessions, reactor in
      for session in sessions { try await session.planNestedLoops(on: reactor) }
      let claimed = try await sessions[0].claim(on: reactor)
      #expect(claimed.count == 40)
      let middle = try #require(claimed.map(\.recipients[0].userID.text).sorted().dropFirst(20).first)
      try await recordInBothOrders(
        claimed, in: sessions, heldBackBy: "update tacet.deliveries set held_us = 1 where user_id = '\(middle)'",
        on: reactor)
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "40")
  }

  @Test("a late acceptance and the record of its successor do not wait for each other in a circle")
  func lateAcceptance() async throws {
    let chat = try await Chat(readers: 3)
    try await chat.send()
    try await chat.record(try await claim(chat.database)) { .held($0, for: .zero) }
    try await withSessions(chat.database, 3) { sessions, reactor in
      let (late, successor, other) = (sessions[0], sessions[1], sessions[2])
      let claimed = try await late.claim(lease: .zero, on: reactor)
      let users = claimed.map(\.recipients[0].userID).sorted { $0.text < $1.text }
      // The middle one stays with its first owner, and its hold is what makes the record write the ledger early.
      try await other.run(
        "update tacet.deliveries set due_at = now() + interval '1 minute' where user_id = '\(users[1])'", on: reactor)
      let claimedAgain = try await successor.claim(on: reactor)
      #expect(claimedAgain.count == 2)
      // Held back by the ledger's last row, the late record has written the first, which the successor wants next.
      try await other.run("begin; select from tacet.push_log where user_id = '\(users[2])' for update", on: reactor)
      let lateRecord = Begun.begin(on: reactor) {
        try await late.record(claimed, on: reactor) { $0 == users[1] ? .held($0) : .sent($0, to: ["bb"]) }
      }
      try await other.awaitBlocked(late, on: reactor)
      let record = Begun.begin(on: reactor) { try await successor.record(claimedAgain, on: reactor) { .sent($0) } }
      try await other.awaitBlocked(successor, on: reactor)
      try await other.run("commit", on: reactor)
      try await lateRecord.value(on: reactor)
      try await record.value(on: reactor)
    }
    #expect(try await chat.left() == "0|1")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "2")
  }
}
