import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import Testing

@testable import PushPipeline

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
    try await PipelineRig.run(configure: { $0.lease = .milliseconds(500) }) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await count(doing: "raise using errcode = '53200';", for: nil, of: rig, on: reactor)
      try await chat.post(3, on: reactor)
      rig.start(on: reactor)
      for _ in 0..<2000
      where try await rig.value("select min(attempts) from tacet.inbox", as: Int.self, on: reactor) < 2 {
        await reactor.sleep(for: .milliseconds(5))
      }
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
      for _ in 0..<2000 where rig.pipeline.pacer.everything.count < 4 { await reactor.sleep(for: .milliseconds(5)) }
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
      for _ in 0..<1000 where rig.pipeline.pacer.everything.since != nil { await reactor.sleep(for: .milliseconds(5)) }
      #expect(rig.pipeline.claimFault(now: Reactor.now) == nil)
      #expect(lines.all.contains { $0.message == "work can be claimed again" })
    }
  }
}
