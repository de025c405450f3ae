import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import Testing

@testable import PushPipeline

@Suite("Work that cannot be done")
struct StubbornWorkTests {
  /// The host's function fails for one message.
  private func poison(_ id: HostID, of rig: PipelineRig, on reactor: isolated Reactor) async throws {
    try await rig.execute(
      """
      create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as $$
        select 1 / case when exists (
          select from public.messages m where m.id = '\(id)' and m.text <> 'mended'
        ) then 0 else 1 end::bigint
      $$
      """, on: reactor)
  }

  /// Only the poisoned message meets the poison: it has a recipient of its own.
  private func poison(
    _ id: HostID, to user: HostID, of rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    try await rig.execute(
      """
      create or replace function tacet.unread_count(user_id uuid) returns bigint language plpgsql stable as $$
      begin
        if user_id = '\(user)' and exists (select from public.messages m where m.id = '\(id)' and m.text <> 'mended')
        then
          raise 'the badge of this user cannot be counted';
        end if;
        return 1;
      end $$
      """, on: reactor)
  }

  @Test("one message that cannot be looked at keeps no other waiting, and is parked with the reason")
  func parked() async throws {
    try await PipelineRig.run(configure: { $0.rescuesMax = 3 }) { rig, reactor in
      let cursed = try await Chat(in: rig, on: reactor)
      let others = try await Chat(of: 3, devices: ["bb"], in: rig, on: reactor)
      let bad = try await cursed.post(on: reactor)[0]
      try await poison(bad, to: cursed.recipients[0], of: rig, on: reactor)
      let good = try await others.post(5, on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(15, on: reactor)
      for id in good { _ = try await rig.outcomes(of: id, on: reactor) }
      let rescuer = Rescuer(for: rig.pipeline)
      let parked = "select coalesce(max(reason), '') from tacet.parked where subject_id = '\(bad)'"
      try await rig.until("parked", on: reactor) {
        // Its lease runs out; a shorter one could on a busy machine run out for the others, too.
        try await rig.execute("update tacet.inbox set available_at = now() where error is not null", on: reactor)
        await rescuer.look(on: reactor)
        return try await rig.value(parked, as: String.self, on: reactor).contains("P0001")
      }
      try await rig.nothingLeft(on: reactor)

      try await rig.execute("update public.messages set text = 'mended' where id = '\(bad)'", on: reactor)
      #expect(try await rig.value("select tacet.replay('\(bad)')", as: Int64.self, on: reactor) == 1)
      try await rig.nothingLeft(on: reactor)
      #expect(try await rig.outcomes(of: bad, on: reactor).map(\.decision) == [.sent])
      #expect(rig.channel.sent.count == 16)
    }
  }

  @Test("a hold that cannot be looked at any more is parked as failed, and replayed as held")
  func parkedDelivery() async throws {
    try await PipelineRig.run(configure: {
      $0.lease = .seconds(1)
      $0.rescuesMax = 3
    }) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await chat.see(ago: "20 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await poison(id, to: chat.recipients[0], of: rig, on: reactor)
      try await rig.execute("update tacet.deliveries set due_at = now()", on: reactor)
      let rescuer = Rescuer(for: rig.pipeline)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { outcomes in
        reactor.start { await rescuer.look(on: reactor) }
        return outcomes.first?.decision == .failed
      }
      #expect(outcomes.map(\.reason) == ["parked"])
      try await rig.execute("update public.messages set text = 'mended' where id = '\(id)'", on: reactor)
      try await chat.see(ago: "61 s", on: reactor)
      #expect(try await rig.value("select tacet.replay('\(id)')", as: Int64.self, on: reactor) == 1)
      rig.pipeline.wake(.webhook, on: reactor)
      let sent = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(sent.count == 1)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("when nothing can be looked at, nothing is lost: all goes out once the host has mended its function")
  func brokenContract() async throws {
    try await Chat.run(configure: { $0.lease = .seconds(20) }) { rig, chat, reactor in
      let ids = try await chat.post(20, on: reactor)
      try await poison(ids[0], of: rig, on: reactor)
      rig.start(on: reactor)
      try await rig.await(Int64(20), of: "select count(*) from tacet.inbox where error is not null", on: reactor)
      #expect(rig.channel.sent.isEmpty)
      // Leases have doubled meanwhile; they run out now.
      try await rig.execute(
        "update public.messages set text = 'mended'; update tacet.inbox set available_at = now()", on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 20)
    }
  }

  @Test("events that the trigger could not write to the inbox are found and sent")
  func missed() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.start(on: reactor)
      let locker = try await PostgresConnection.connect(rig.database, logger: .quiet, on: reactor)
      defer { locker.close(on: reactor) }
      try await locker.simple("begin; lock table tacet.inbox in share mode", on: reactor)
      let ids = try await chat.post(3, on: reactor)
      try await locker.simple("rollback", on: reactor)
      #expect(rig.channel.sent.isEmpty)
      await Rescuer(for: rig.pipeline).look(on: reactor)
      for id in ids { #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent]) }
      await Rescuer(for: rig.pipeline).look(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 3)
    }
  }

  @Test("a user who was deleted before the database restarted is forgotten after it")
  func erasedAfterRestart() async throws {
    let server = try await TestPostgres.launch(isDurable: true)
    try await Chat.run(on: server) { rig, chat, reactor in
      try await chat.see(ago: "20 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      // The service's sessions commit asynchronously; a host's deletion is on disk.
      try await rig.execute(
        "set local synchronous_commit = on; delete from public.profiles where id = '\(chat.recipients[0])'", on: reactor
      )
      try await server.restart(.immediate)
      let left = """
        select (select count(*) from tacet.deliveries) + (select count(*) from tacet.push_log)
          + (select count(*) from tacet.erasures where begun_at is null)
        """
      let rescuer = Rescuer(for: rig.pipeline)
      var rows: Int64?
      // The hold may be recorded again after the first pass; the next pass comes ten seconds later.
      for _ in 0..<600 where rows != 0 {
        await rescuer.erase(on: reactor)
        // The first statements after a restart find no session yet.
        rows = try? await rig.value(left, as: Int64.self, on: reactor)
        if rows != 0 { await reactor.sleep(for: .milliseconds(50)) }
      }
      #expect(rows == 0)
    }
  }

  @Test("what was claimed before this process stood still is left to others")
  func stale() async throws {
    try await Chat.run { rig, chat, reactor in
      try await chat.post(on: reactor)
      let limits = ClaimLimits(eventsMax: 1, deliveriesMax: 0, lease: .seconds(30))
      let events = try await rig.store.claim(limits, on: reactor)
      let half: UInt64 = 15_000_000_000
      rig.pipeline.process(
        events, found: Look(cause: .poll, wokenAt: 0, askedAt: Reactor.now - half - 1), on: reactor)
      #expect(rig.channel.sent.isEmpty && rig.pipeline.room.places == 0)
      rig.pipeline.process(events, found: Look(cause: .poll, wokenAt: 0, askedAt: Reactor.now), on: reactor)
      try await rig.channel.received(1, on: reactor)
    }
  }
}

@Suite("Looks that the database refuses", .serialized)
struct RefusedLooksTests {
  /// The host counts unread messages by a function that does this for one user, or for everybody.
  private func count(
    doing statement: String, for user: HostID?, of rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    let condition = user.map { "user_id = '\($0)'" } ?? "true"
    try await rig.execute(
      """
      create or replace function tacet.unread_count(user_id uuid) returns bigint language plpgsql stable as $$
      begin
        if \(condition) then \(statement) end if;
        return 1;
      end $$
      """, on: reactor)
  }

  @Test(
    "one user's text on which a function of the host fails, whatever the condition, keeps no other waiting",
    arguments: [
      ("perform repeat('[', 200000)::json;", "54001"), ("raise using errcode = '53200';", "53200"),
      ("raise using errcode = '55P03';", "55P03"),
    ])
  func isolated(_ statement: String, _ sqlState: String) async throws {
    try await PipelineRig.run(configure: { $0.lease = .seconds(30) }) { rig, reactor in
      let cursed = try await Chat(in: rig, on: reactor)
      let others = try await Chat(of: 3, devices: ["bb"], in: rig, on: reactor)
      try await count(doing: statement, for: cursed.recipients[0], of: rig, on: reactor)
      let bad = try await cursed.post(on: reactor)[0]
      let good = try await others.post(5, on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(15, on: reactor)
      for id in good { _ = try await rig.outcomes(of: id, on: reactor) }
      let left = "select is_claimed::text || ' ' || coalesce(error, '') from tacet.inbox where subject_id = '\(bad)'"
      let row = try await rig.value(left, as: String.self, on: reactor)
      #expect(row.hasPrefix("true ") && row.contains(sqlState))
      let late = try await others.post(waking: .notify, on: reactor)
      #expect(try await rig.outcomes(of: late, on: reactor).allSatisfy { $0.decision == .sent })
      #expect(rig.pipeline.claimFault(now: Reactor.now) == nil)
    }
  }

  @Test("what the server lacks for everybody parks nobody: no try counts, and all goes out afterwards")
  func serverCondition() async throws {
    // All of it is looked at again after a lease, and a push that took as long would go twice.
    try await Chat.run(configure: { $0.lease = .seconds(2) }) { rig, chat, reactor in
      try await count(doing: "raise using errcode = '53200';", for: nil, of: rig, on: reactor)
      try await chat.post(3, on: reactor)
      rig.start(on: reactor)
      try await rig.await(true, of: "select min(attempts) >= 2 from tacet.inbox", on: reactor)
      let rescues = "select max(rescues)::bigint from tacet.inbox"
      #expect(try await rig.value(rescues, as: Int64.self, on: reactor) == 0)
      #expect(rig.channel.sent.isEmpty && rig.pipeline.pacer.everything.since != nil)
      try await count(doing: "null;", for: nil, of: rig, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 3)
    }
  }

  @Test("a host that renames a column is told once what is missing, is asked seldom, and served again by itself")
  func renamed() async throws {
    let lines = LogLines()
    try await PipelineRig.run(logger: lines.logger) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await rig.execute("alter table public.profiles rename column name to full_name", on: reactor)
      rig.start(on: reactor)
      try await rig.until("failing", on: reactor) { rig.pipeline.pacer.everything.count >= 4 }
      // Every failed look asks for messages, for everything, for a lease, and for nothing at all.
      #expect(rig.pool.counters.roundTrips < 100)
      let told = lines.all.filter { $0.message == "cannot look at everything at once" }
      #expect(told.count == 1)
      #expect(told.first?.metadata["error"]?.contains("42703") == true)
      #expect(told.first?.metadata["cause"] == "column p.name does not exist")
      #expect(told.first?.metadata["function"] == "message_context")
      #expect(rig.pipeline.claimFault(now: Reactor.now &+ 3_100_000_000)?.contains("42703") == true)
      try await rig.execute("alter table public.profiles rename column full_name to name", on: reactor)
      let id = try await chat.post(waking: .notify, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      try await rig.until("working", on: reactor) { rig.pipeline.pacer.everything.since == nil }
      #expect(rig.pipeline.claimFault(now: Reactor.now) == nil)
      #expect(lines.all.contains { $0.message == "work can be claimed again" })
    }
  }
}
