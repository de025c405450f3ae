import Foundation
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("What language models may use on a day")
struct ModelUsageTests {
  private static let limits = ModelUsageLimits(tokensMax: 100, costMicrodollarsMax: 1000)

  @Test(
    "both bounds hold, and may be reached",
    arguments: [(100, 1000, true), (101, 1000, false), (100, 1001, false), (0, 0, true)])
  func bounds(_ tokens: Int, _ cost: Int, _ isGranted: Bool) async throws {
    let database = try await TestDatabase.migrated()
    #expect(try await reserve(tokens, cost, in: database) == isGranted)
    #expect(try await usage(in: database) == (isGranted ? "0|0|\(tokens)|0|\(cost)|1" : "0|0|0|0|0|0"))
  }

  @Test(
    "what is used and what is set aside count together",
    arguments: [(20, 200, true), (21, 200, false), (20, 201, false)])
  func together(_ tokens: Int, _ cost: Int, _ isGranted: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await withStore(database) { store, reactor in
      let answer = try await Self.ask("a", of: HostID.new(), 60, 600, in: store, on: reactor)
      var used = CampaignUsage()
      (used.inputTokens, used.outputTokens, used.costMicrodollars) = (30, 10, 400)
      try await store.settle(try #require(answer.reservation), used, reply: nil, on: reactor)
    }
    #expect(try await usage(in: database) == "30|10|0|400|0|1")
    #expect(try await reserve(40, 400, in: database))
    #expect(try await reserve(tokens, cost, in: database) == isGranted)
  }

  @Test("of two calls for the last of it one gets it; the other when the first gives up", arguments: [true, false])
  func race(_ isCommitted: Bool) async throws {
    let database = try await TestDatabase.migrated()
    @Sendable func reserve() -> String {
      "(select refusal is null from tacet.reserve_model_text('\(HostID.new())', 'a', '2026-06-14', 60, 0, 100, 0))"
    }
    try await withTwoSessions(database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(reserve(), on: reactor) == "true")
      let begun = Begun.begin(on: reactor) { try await second.value(reserve(), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? "false" : "true"))
    }
    #expect(try await usage(in: database) == "0|0|60|0|0|1")
  }

  @Test("a call that ends after midnight counts on the day on which it began, and frees nothing of the next")
  func midnight() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.model_usage (day, reserved_tokens, reserved_microdollars, calls)
      values ('2026-06-14', 50, 500, 1), ('2026-06-15', 70, 700, 1)
      """)
    var used = CampaignUsage()
    (used.inputTokens, used.outputTokens, used.costMicrodollars) = (30, 10, 400)
    try await withStore(database) { [used] store, reactor in
      let question = ModelQuestion(of: HostID.new(), digest: "a")
      let reservation = ModelUsageReservation(question: question, day: "2026-06-14", tokens: 50, costMicrodollars: 500)
      try await store.settle(reservation, used, reply: nil, on: reactor)
    }
    #expect(try await usage(in: database) == "30|10|0|400|0|1\n0|0|70|0|700|1")
  }

  @Test("more than was set aside is counted, and what is set aside is never less than nothing")
  func overrun() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql("insert into tacet.model_usage (day, reserved_tokens) values ('2026-06-14', 10)")
    let question = ModelQuestion(of: HostID.new(), digest: "a")
    let reservation = ModelUsageReservation(question: question, day: "2026-06-14", tokens: 50, costMicrodollars: 500)
    let used = CampaignUsage(inputTokens: 300, outputTokens: 100, costMicrodollars: 4000)
    try await withStore(database) { try await $0.settle(reservation, used, reply: nil, on: $1) }
    #expect(try await usage(in: database) == "300|100|0|4000|0|0")
  }

  @Test("the same question is asked again until it has a reply; each user has replies of their own")
  func replies() async throws {
    let database = try await TestDatabase.migrated()
    let (user, other) = (HostID.new(), HostID.new())
    try await withStore(database) { store, reactor in
      let failed = try await Self.ask("a", of: user, in: store, on: reactor)
      try await store.settle(try #require(failed.reservation), CampaignUsage(), reply: nil, on: reactor)
      let first = try await Self.ask("a", of: user, in: store, on: reactor)
      try await store.settle(try #require(first.reservation), CampaignUsage(), reply: "Hi", on: reactor)
      #expect(try await Self.ask("a", of: user, in: store, on: reactor) == .answered("Hi"))
      for (question, user) in [("b", user), ("a", other)] {
        #expect(try await Self.ask(question, of: user, in: store, on: reactor).reservation != nil)
      }
    }
    #expect(try await usage(in: database) == "0|0|2|0|0|4")
  }

  @Test("a user's texts of a day cost 50 calls, however they are asked for, and leave the rest to others")
  func userBudget() async throws {
    let database = try await TestDatabase.migrated()
    let user = HostID.new()
    try await withStore(database) { store, reactor in
      for call in 0..<50 {
        let answer = try await Self.ask(call < 20 ? "failing" : "\(call)", of: user, in: store, on: reactor)
        #expect(answer.reservation != nil, "\(call)")
      }
      for question in ["failing", "49", "50"] {
        let answer = try await Self.ask(question, of: user, in: store, on: reactor)
        #expect(answer == .refused("model_user_budget_spent"))
      }
      #expect(try await Self.ask("50", of: HostID.new(), in: store, on: reactor).reservation != nil)
    }
    try await database.sql("update tacet.model_texts set day = day - 1")
    try await withStore(database) { store, reactor in
      let next = try await Self.ask("failing", of: user, in: store, on: reactor)
      #expect(next.reservation != nil)
    }
    #expect(try await database.sql("select calls from tacet.model_texts where question = 'failing'") == "1")
  }

  private func reserve(_ tokens: Int, _ cost: Int, in database: TestDatabase) async throws -> Bool {
    try await withStore(database) { store, reactor in
      let answer = try await Self.ask(
        "\(UInt64.random(in: .min ... .max))", of: HostID.new(), tokens, cost, in: store, on: reactor)
      return answer.reservation != nil
    }
  }

  private static func ask(
    _ question: String, of user: HostID, _ tokens: Int = 1, _ cost: Int = 0, in store: PushDatabase,
    on reactor: isolated Reactor
  ) async throws -> ModelUsageAnswer {
    try await store.reserveModelUsage(
      for: ModelQuestion(of: user, digest: question), tokens: tokens, costMicrodollars: cost, within: limits,
      on: reactor)
  }

  private func usage(in database: TestDatabase) async throws -> String {
    try await database.sql(
      """
      select input_tokens, output_tokens, reserved_tokens, cost_microdollars, reserved_microdollars, calls
      from tacet.model_usage order by day
      """)
  }
}

extension ModelUsageAnswer {
  fileprivate var reservation: ModelUsageReservation? {
    if case .reserved(let reservation) = self { reservation } else { nil }
  }
}
