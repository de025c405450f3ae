import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Claims of users whom a campaign looks at")
struct CampaignClaimTests {
  @Test("a lease keeps others away until it ends, and each claim counts")
  func leases() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let claims = [
        try await store.claim(for: .zero, on: reactor), try await store.claim(for: .seconds(60), on: reactor),
        try await store.claim(for: .seconds(60), on: reactor),
      ]
      #expect(claims.map { $0.map(\.attempts) } == [[1], [2], []])
    }
  }

  @Test("what is decided is not claimed again")
  func decided() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let turn = try #require(try await store.claim(for: .zero, on: reactor).first)
      #expect(try await store.decide(turn, .skipped, reason: "nothing_to_say", CampaignFindings(), on: reactor))
      #expect(try await store.claim(for: .zero, on: reactor) == [])
    }
  }

  @Test("those come first who have waited longest, as many as asked for")
  func order() async throws {
    let scene = try await Self.noted(5)
    try await scene.database.sql(
      """
      update tacet.campaign_decisions d set available_at = now() - n.place * interval '1 second'
      from (select user_id, row_number() over (order by md5(user_id::text)) as place from tacet.campaign_decisions) n
      where n.user_id = d.user_id
      """)
    let waiting = try await scene.database.sql("select user_id from tacet.campaign_decisions order by available_at")
    try await withStore(scene.database) { store, reactor in
      var claimed: [String] = []
      for count in [2, 2, 1] {
        let turns = try await store.claim(2, for: .seconds(60), on: reactor)
        #expect(turns.count == count)
        claimed += Set(turns.map { $0.userID.text }).sorted {
          waiting.place(of: $0) < waiting.place(of: $1)
        }
      }
      #expect(claimed.joined(separator: "\n") == waiting)
    }
  }

  @Test("two sessions never get the same user, and neither waits")
  func apart() async throws {
    let scene = try await Self.noted(5)
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      let one = try await first.claimTurns(3, on: reactor)
      let other = try await second.claimTurns(3, on: reactor)
      #expect(one.count == 3 && other.count == 2 && Set(one).isDisjoint(with: other))
      try await first.run("rollback", on: reactor)
      #expect(Set(try await second.claimTurns(5, on: reactor)) == Set(one))
    }
  }

  @Test("a lease that is given back was never taken, unless somebody has claimed since")
  func release() async throws {
    let scene = try await Self.noted(1)
    try await withStore(scene.database) { store, reactor in
      let first = try await store.claim(for: .zero, on: reactor)
      let second = try await store.claim(for: .seconds(60), on: reactor)
      try await store.release(first, on: reactor)
      #expect(try await store.claim(for: .seconds(60), on: reactor) == [])
      try await store.release(second, on: reactor)
      let third = try await store.claim(for: .seconds(60), on: reactor)
      #expect(third.map(\.attempts) == [2])
      try await store.decide(third[0], .failed, reason: "reason", CampaignFindings(), on: reactor)
      try await store.release(third, on: reactor)
    }
    #expect(try await scene.database.sql("select attempts, decision from tacet.campaign_decisions") == "2|failed")
  }

  @Test("a claim says when the hour is too long ago", arguments: [("59 minutes", false), ("3601 seconds", true)])
  func late(_ age: String, _ isLate: Bool) async throws {
    let scene = try await Self.noted(1)
    try await scene.database.sql("update tacet.campaign_decisions set due_at = now() - interval '\(age)'")
    let claimed = try await withStore(scene.database) { try await $0.claim(for: .zero, on: $1) }
    #expect(claimed.map(\.isLate) == [isLate])
  }

  private static func noted(_ users: Int) async throws -> CampaignScene {
    let scene = try await CampaignScene()
    for _ in 0..<users { try await scene.addUser() }
    let run = try await withStore(scene.database) { try await $0.enrol("coach", onlyUser: nil, on: $1) }
    try #require(run?.enrolled == users)
    return scene
  }
}

extension PushDatabase {
  fileprivate func claim(
    _ count: Int = 100, for lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignTurn] {
    try await claimTurns(count, lease: lease, lateAfter: .seconds(3600), on: reactor)
  }
}

extension Session {
  /// Users, over a connection whose transaction may be open.
  fileprivate func claimTurns(_ count: Int64, on reactor: isolated Reactor) async throws -> [HostID] {
    try await connection.query(
      .claimCampaignDecisions(
        decisionsMax: count, leaseMicroseconds: 60_000_000, lateAfterMicroseconds: 3_600_000_000), on: reactor
    ).map { try $0.decode("user_id") }
  }
}

extension String {
  fileprivate func place(of part: String) -> Int { range(of: part)?.lowerBound.utf16Offset(in: self) ?? -1 }
}
