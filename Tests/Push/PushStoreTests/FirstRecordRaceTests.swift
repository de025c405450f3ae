import Foundation
import Postgres
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
