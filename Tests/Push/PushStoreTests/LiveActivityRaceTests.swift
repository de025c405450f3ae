import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Live Activities: states that are committed while others look")
struct LiveActivityRaceTests {
  /// A workout that has a token, and no push.
  private func scene() async throws -> LiveActivityScene {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.passTime()
    return scene
  }

  /// A claim with the snapshot of before a commit. A repeatable read keeps it for as long as a test likes; where a claim would pass over
  /// a row that has moved, it fails.
  @Test(
    "a claim with an older snapshot does not take a push that has got a newer state since",
    arguments: [
      "select tacet.update_live_activity('run', '\(LiveActivityScene.state(2))')",
      "select tacet.end_live_activity('run', null, null, 'server')",
    ])
  func olderSnapshot(_ change: String) async throws {
    let scene = try await scene()
    try await scene.update(1)
    try await scene.passTime()
    try await withSessions(scene.database, 2) { sessions, reactor in
      try await sessions[0].run("begin isolation level repeatable read", on: reactor)
      _ = try await sessions[0].value("select count(*) from tacet.inbox", on: reactor)
      try await sessions[1].run(change, on: reactor)
      let error = await #expect(throws: PostgresError.self) { try await sessions[0].claim(on: reactor) }
      #expect(error?.sqlState == .serializationFailure)
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await scene.send() == [change.contains("end_live") ? "end 1 -> cc01" : "update 2 -> cc01"])
  }

  @Test("a transaction of the host that stays open keeps no record waiting")
  func openTransaction() async throws {
    let scene = try await scene()
    try await scene.update(1)
    try await scene.passTime()
    try await scene.hold(try await claim(scene.database), for: .zero)
    try await withSessions(scene.database, 2) { sessions, reactor in
      let (host, service) = (sessions[0], sessions[1])
      let events = try await service.claim(on: reactor)
      #expect(events.map(LiveActivityScene.words) == ["update 1 -> cc01"])
      try await host.run("begin", on: reactor)
      try await host.run("select tacet.update_live_activity('run', '\(LiveActivityScene.state(2))')", on: reactor)
      try await service.run("set lock_timeout = '1s'", on: reactor)
      try await service.record(events, on: reactor) {
        RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["cc01"])
      }
      try await host.run("commit", on: reactor)
    }
    try await scene.passTime()
    #expect(try await scene.send() == ["update 2 -> cc01"])
  }

  @Test("a device of the host that another transaction keeps holds up no record of a dead token")
  func keptDevice() async throws {
    let scene = try await scene()
    try await withSessions(scene.database, 2) { sessions, reactor in
      try await sessions[0].run("begin", on: reactor)
      try await sessions[0].run("update public.push_tokens set platform = 'ios'", on: reactor)
      try await sessions[1].run("set lock_timeout = '1s'", on: reactor)
      let call = "select tacet.drop_dead_token('\(LiveActivityScene.device)', 'Unregistered', now())"
      try await sessions[1].run(call, on: reactor)
      try await sessions[0].run("rollback", on: reactor)
      let valid = "select count(*) from public.push_tokens where invalidated_at is null"
      #expect(try await sessions[1].value(valid, on: reactor) == "1")
      try await sessions[1].run(call, on: reactor)
      #expect(try await sessions[1].value(valid, on: reactor) == "0")
    }
  }
}
