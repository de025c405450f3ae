import Foundation
import Postgres
import Reactors
import Testing

@testable import PushStore

@Suite("Holds and news at the same time")
struct HoldRaceTests {
  @Test("news makes the hold claimable with its commit, and the claim knows the news", arguments: News.allCases)
  func newsFirst(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await host.run("commit", on: reactor)
      #expect(news.isKnown(to: try await service.claim(on: reactor)))
    }
  }

  @Test("news that is rolled back has released nothing", arguments: News.allCases)
  func rolledBack(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news)); rollback", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      #expect(try await service.review([scene.hold], on: reactor) == 0)
    }
  }

  @Test("a claim passes by a due hold that somebody has locked, and takes it afterwards")
  func claimDuringLock() async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { other, service, reactor in
      try await other.run("begin; select from tacet.deliveries for update", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await other.run("commit", on: reactor)
      #expect(try await service.claim(on: reactor).count == 1)
    }
  }

  @Test("news during a claim does not wait; the review after the record finds it", arguments: News.allCases)
  func newsDuringClaim(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await service.run("begin", on: reactor)
      let claimed = try await service.claim(on: reactor)
      #expect(claimed.count == 1 && !news.isKnown(to: claimed))
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      try await service.record(claimed, on: reactor) { .held($0) }
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test("news between a claim and its record is found by the review", arguments: News.allCases)
  func newsBeforeRecord(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await host.run(scene.sql(news), on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      try await service.record(claimed, on: reactor) { .held($0) }
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test(
    "news during the record of a hold, old or new, does not wait; the review finds it", arguments: News.allCases,
    [true, false])
  func newsDuringRecord(_ news: News, _ isNew: Bool) async throws {
    let scene = isNew ? try await HeldScene.waiting() : try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await service.beginRecord(claimed, on: reactor) { .held($0) }
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test("news during the record of a push changes nothing, and nothing is left", arguments: News.allCases)
  func newsDuringSent(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await service.beginRecord(claimed, on: reactor) { .sent($0) }
      try await host.run(scene.sql(news), on: reactor)
      try await service.run("commit", on: reactor)
      #expect(try await service.review([scene.hold], on: reactor) == 0)
    }
    // A deleted message is taken off the screens.
    #expect(try await scene.chat.left() == (news == .deleted ? "1|0" : "0|0"))
    #expect(try await scene.chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  @Test("a record does not wait for news that is not committed", arguments: News.allCases)
  func recordDuringNews(_ news: News) async throws {
    let scene = try await HeldScene.due()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      try await service.record(claimed, on: reactor) { .held($0) }
      try await host.run("commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  @Test(
    "a host whose snapshot is older than the hold's last change is not failed; the review finds its news",
    arguments: News.allCases)
  func repeatableRead(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(news)); commit", on: reactor)
      try await expectReview(scene, finds: news, service, on: reactor)
    }
  }

  /// What was not released by the host's transaction is released by the review, and the claim then knows why.
  private func expectReview(
    _ scene: HeldScene, finds news: News, _ service: Session, on reactor: isolated Reactor
  ) async throws {
    #expect(try await service.claim(on: reactor) == [])
    #expect(try await service.review([scene.hold], on: reactor) == 1)
    #expect(news.isKnown(to: try await service.claim(on: reactor)))
    #expect(try await service.review([scene.hold], on: reactor) == 0)
  }
}
