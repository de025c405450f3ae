import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Events for the host, one after the other")
struct HostEventOrderTests {
  private static let again = HostEventAnswer(status: 500, fault: "status 500", nextTry: .seconds(60))

  /// Makes what waits due, as if its time had come.
  private func pass(_ scene: HostEventScene) async throws {
    try await scene.database.sql("update tacet.host_events set due_at = now() - interval '1 s' where not is_claimed")
  }

  @Test("a user's next event is claimed after the one before it has ended, and other users do not wait")
  func inOrder() async throws {
    let scene = try await HostEventScene(readers: 2, escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    let first = try await scene.claim()
    #expect(first.map(\.type) == ["push.sent", "push.sent"])
    #expect(Set(first.map(\.userID)) == Set(scene.chat.readers))
    #expect(try await scene.claim().isEmpty)
    try await scene.settle(first[0])
    let next = try await scene.claim()
    #expect(next.map(\.type) == ["push.skipped"] && next.map(\.userID) == [first[0].userID])
    try await scene.settle(first[1], Self.again)
    #expect(try await scene.claim().isEmpty)
    try await pass(scene)
    let second = try await scene.claim()
    #expect(second.map(\.id) == [first[1].id] && second.map(\.attempt) == [2])
    #expect(second.map(\.webhookID) == [first[1].webhookID])
  }

  @Test("a claim takes as many users as it is asked for, those who wait longest first")
  func bounded() async throws {
    let scene = try await HostEventScene(readers: 3, escalates: nil, sends: .sent)
    try await scene.database.sql("update tacet.host_events set due_at = now() - id * interval '1 s'")
    let ids = try await scene.events("id").split(separator: "\n").map(String.init)
    #expect(try await scene.claim(2).map { String($0.id) } == [ids[2], ids[1]])
    #expect(try await scene.claim(2).map { String($0.id) } == [ids[0]])
  }

  @Test("an event of a killed process is claimed after its lease, and what the dead one still says counts no more")
  func lease() async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    let lost = try #require(try await scene.claim(lease: .zero).first)
    let mine = try #require(try await scene.claim().first)
    #expect(mine.attempt == 2 && mine.webhookID == lost.webhookID)
    #expect(try await scene.settle(lost) == nil)
    #expect(try await scene.settle(mine) == .taken)
    #expect(try await scene.settle(mine) == nil)
  }

  @Test(
    "an event is dead when its next attempt would be too late, and its user's next one comes",
    arguments: [(59, HostEventState.dead), (61, .waiting)])
  func dead(_ seconds: Int, _ state: HostEventState) async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    let event = try #require(try await scene.claim().first)
    #expect(try await scene.settle(event, Self.again, givesUp: .seconds(seconds)) == state)
    #expect(try await scene.claim().map(\.type) == (state == .dead ? ["push.skipped"] : []))
  }

  @Test("dead events are sent again behind what waits, under their ids, with all their time")
  func retried() async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    let event = try #require(try await scene.claim().first)
    try await scene.settle(event, Self.again, givesUp: .zero)
    try await scene.decide(.skipped)
    #expect(try await withStore(scene.database) { try await $0.retryHostEvents(on: $1) } == 1)
    for type in ["push.skipped", "push.sent"] {
      let next = try await scene.claim()
      #expect(next.map(\.type) == [type] && next.map(\.attempt) == [1])
      if type == "push.sent" { #expect(next.map(\.webhookID) == [event.webhookID]) }
      try await scene.settle(next[0])
    }
    #expect(try await scene.events() == "")
  }

  @Test("two sessions that claim at once share the users, and neither waits or claims a user twice")
  func together() async throws {
    let scene = try await HostEventScene(readers: 6, escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    try await withTwoSessions(scene.database) { one, two, reactor in
      try await one.run("begin", on: reactor)
      try await two.run("begin", on: reactor)
      let claim = "select string_agg(user_id::text || type, ' ') from tacet.claim_host_events(4, interval '1 min')"
      let first = try #require(try await one.value(claim, on: reactor)).split(separator: " ")
      let second = try #require(try await two.value(claim, on: reactor)).split(separator: " ")
      #expect(first.count == 4 && second.count == 2 && Set(first).isDisjoint(with: second))
      #expect((first + second).allSatisfy { $0.hasSuffix("push.sent") })
      try await one.run("commit", on: reactor)
      // The second one's snapshot is older than the commit, and it looks again all the same.
      #expect(try await two.value(claim, on: reactor) == nil)
      try await two.run("commit", on: reactor)
    }
  }

  @Test("an event that commits late, with a lower place, waits until the one under way has ended")
  func lateCommit() async throws {
    let scene = try await HostEventScene(escalates: nil)
    let reader = scene.chat.reader
    let insertion = "insert into tacet.host_events (type, user_id) values ('push.sent', '\(reader)')"
    try await withTwoSessions(scene.database) { one, two, reactor in
      try await one.run("begin; \(insertion)", on: reactor)
      try await two.run(insertion, on: reactor)
      let claim = "select string_agg(id::text, ' ') from tacet.claim_host_events(4, interval '1 min')"
      let later = try await two.value(claim, on: reactor)
      #expect(later != nil)
      try await one.run("commit", on: reactor)
      #expect(try await two.value(claim, on: reactor) == nil)
      _ = try await two.value(
        "tacet.settle_host_event(\(later ?? "0"), 1, 200, null, null, interval '1 h')", on: reactor)
      #expect(try await two.value(claim, on: reactor) != nil)
    }
  }

  @Test("a thousand events of a user cost a claim one look at each, once")
  func longQueue() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.database.sql(
      "insert into tacet.host_events (type, user_id) select 'push.sent', '\(scene.chat.reader)' from generate_series(1, 1000)"
    )
    let event = try #require(try await scene.claim().first)
    let due = "select count(*) from tacet.host_events where due_at <= clock_timestamp()"
    #expect(try await scene.database.sql(due) == "0")
    try await scene.settle(event)
    #expect(try await scene.database.sql(due) == "1")
  }

  @Test("a claim reads as little however many events wait for the user", .uuidsOnly)
  func many() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.database.sql(
      """
      insert into tacet.host_events (type, user_id) select 'push.sent', '\(scene.chat.reader)' from generate_series(1, 3000);
      analyze tacet.host_events
      """)
    try await scene.settle(try #require(try await scene.claim().first))
    // Those that wait for the user's first one are not looked at again: neither from the table nor from an index.
    let reads = try await scene.database.sql(
      """
      select pg_stat_force_next_flush();
      create table reads as select seq_tup_read + idx_tup_fetch as n from pg_stat_user_tables where relid = 'tacet.host_events'::regclass;
      select from tacet.claim_host_events(1, '30 s');
      select pg_stat_force_next_flush();
      select seq_tup_read + idx_tup_fetch - n < 20 from reads, pg_stat_user_tables where relid = 'tacet.host_events'::regclass
      """)
    #expect(reads.split(separator: "\n").last == "t")
  }
}
