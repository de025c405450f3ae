import Foundation
import Reactors
import Testing

@testable import PushStore

@Suite("The host's statements and the service's locks")
struct HostFirstTests {
  /// Far above the 50 ms that a trigger waits for a lock, and far below what a waiting host would take here: forever.
  private static let bound = Duration.seconds(10)

  @Test("news does not wait for a hold that the service has locked", arguments: News.allCases)
  func lockedRow(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, scene.sql(news), by: "select from tacet.deliveries for update")
    #expect(try await scene.chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test("news waits briefly for a queue that somebody has locked, and is counted", arguments: News.allCases)
  func lockedTable(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, scene.sql(news), by: "lock table tacet.deliveries in access exclusive mode")
    #expect(try await scene.chat.database.sql("select sqlstate from tacet.trigger_failures") == "55P03")
  }

  @Test(
    "a user can be deleted while the service has their rows locked",
    arguments: ["select from tacet.deliveries for update", "select from tacet.push_log for update"])
  func deletedUser(_ lock: String) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, "delete from public.profiles where id = '\(scene.chat.reader)'", by: lock)
    #expect(try await scene.chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test("the service records what a host's open transaction has deleted or changed", arguments: News.allCases)
  func recordedMeanwhile(_ news: News) async throws {
    let scene = try await HeldScene.waiting()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      let claimed = try await service.claim(on: reactor)
      #expect(claimed.flatMap(\.recipients).count == 1)
      try await service.record(claimed, on: reactor) { .sent($0) }
      try await host.run("commit", on: reactor)
    }
    // A deleted message is taken off the screens.
    #expect(try await scene.chat.left() == (news == .deleted ? "1|0" : "0|0"))
    #expect(try await scene.chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  /// Runs the host's statement to its end while another session keeps a lock.
  private func expectUnhindered(_ scene: HeldScene, _ statement: String, by lock: String) async throws {
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await service.run("begin; \(lock)", on: reactor)
      let start = ContinuousClock.now
      try await host.run(statement, on: reactor)
      #expect(ContinuousClock.now - start < Self.bound)
      try await service.run("rollback", on: reactor)
    }
  }
}
