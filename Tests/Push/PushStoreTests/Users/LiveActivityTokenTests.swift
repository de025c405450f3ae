import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Tokens of Live Activities")
struct LiveActivityTokenTests {
  /// A workout that was started by push.
  private func scene() async throws -> LiveActivityScene {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    return scene
  }

  @Test("a new token replaces the device's last one and gets the newest state; a known one gets nothing again")
  func rotation() async throws {
    let scene = try await scene()
    #expect(try await scene.report("cc01"))
    #expect(try await scene.due() == [])
    try await scene.update(5)
    try await scene.passTime()
    #expect(try await scene.send() == ["update 5 -> cc01"])
    #expect(try await scene.report("cc02"))
    #expect(try await scene.report("cc02"))
    try await scene.passTime()
    #expect(try await scene.send() == ["update 5 -> cc02"])
    #expect(try await scene.report("dd01", device: "aa02"))
    try await scene.update(6)
    try await scene.passTime()
    #expect(try await scene.send() == ["update 6 -> cc02,dd01"])
    #expect(try await scene.report("cc03", "of another") == false)
  }

  @Test(
    "without a token there is nothing to send to, which the ledger says; the token brings the newest state, or the end")
  func late() async throws {
    let scene = try await scene()
    try await scene.update(5)
    try await scene.passTime()
    let events = try await claim(scene.database)
    #expect(events.flatMap(\.recipients).map(\.situation.deviceCount) == [0])
    try await scene.chat.record(events) { RecipientOutcome(userID: $0, decision: .skipped, acceptedDevices: []) }
    try await scene.end()
    try await scene.passTime()
    try await scene.chat.record(try await claim(scene.database)) {
      RecipientOutcome(userID: $0, decision: .skipped, acceptedDevices: [])
    }
    try await scene.report("cc01")
    try await scene.passTime()
    #expect(try await scene.send() == ["end 5 -> cc01"])
    try await scene.report("cc01")
    try await scene.report("cc02")
    try await scene.passTime()
    #expect(try await scene.due() == ["end 5 -> cc02"])
  }

  @Test("a dead update token ends itself and not the device's; one that was registered since stays")
  func dead() async throws {
    let scene = try await scene()
    try await scene.report("cc01")
    try await scene.update(5)
    try await scene.passTime()
    let events = try await claim(scene.database)
    let claimedAt = try #require(events.first).claimedAt
    func report(since: Int64?) -> DeadTarget {
      DeadTarget(address: "cc01", reason: "ExpiredToken", sinceMilliseconds: since, claimedAt: claimedAt)
    }
    try await scene.take(events, dead: [report(since: 0)])
    let tokens = "select count(*) from tacet.activity_tokens"
    #expect(try await scene.database.sql(tokens) == "1")
    try await scene.update(6)
    try await scene.passTime()
    try await scene.take(try await claim(scene.database), dead: [report(since: nil)])
    #expect(try await scene.database.sql(tokens) == "0")
    #expect(try await scene.database.sql("select count(*) from push_tokens where invalidated_at is null") == "1")
    try await scene.start("walk")
    let starts = try await claim(scene.database)
    try await scene.take(
      starts,
      dead: [
        DeadTarget(
          address: LiveActivityScene.startToken, reason: "Unregistered", sinceMilliseconds: nil,
          claimedAt: try #require(starts.first).claimedAt)
      ])
    #expect(try await scene.database.sql("select count(*) from tacet.activity_start_tokens") == "0")
  }

  @Test("another user who knows the device's token takes nothing of it")
  func startTokens() async throws {
    let scene = try await LiveActivityScene()
    let other = scene.chat.sender
    _ = try await withStore(scene.database) {
      try await $0.put(
        LiveActivityToken(token: "ee01", deviceToken: LiveActivityScene.device), startingType: LiveActivityScene.type,
        of: other, on: $1)
    }
    try await scene.start()
    try await scene.start("walk", of: other)
    #expect(Set(try await scene.due()) == ["start 0 -> bb01", "start 0 -> "])
    try await withStore(scene.database) {
      try await $0.removeStartToken(of: LiveActivityScene.device, type: LiveActivityScene.type, of: other, on: $1)
    }
    try await scene.start("swim")
    #expect(try await scene.due() == ["start 0 -> bb01"])
  }

  @Test(
    "after a log-out, and when another user has the phone, nothing of the former user's goes there",
    arguments: ["log-out", "registration", "host's registration", "host's log-out"])
  func left(_ how: String) async throws {
    let scene = try await scene()
    let (user, other) = (scene.user, scene.chat.sender)
    try await scene.report("cc01")
    try await scene.report("cc02", device: "")
    try await scene.report("dd01", device: "aa02")
    switch how {
    case "log-out":
      _ = try await withStore(scene.database) {
        try await $0.removeDevice(LiveActivityScene.device, of: user, on: $1)
      }
    case "registration":
      _ = try await withStore(scene.database) {
        try await $0.register(
          RegisteredDevice(token: LiveActivityScene.device), of: other, devicesMax: 10, on: $1)
      }
    case "host's registration": try await scene.database.sql("update push_tokens set user_id = '\(other)'")
    default: try await scene.database.sql("delete from push_tokens")
    }
    try await scene.update(6)
    try await scene.passTime()
    // The host's tables do not say which tokens are of a device that no app has named.
    #expect(try await scene.due() == ["update 6 -> \(how.hasPrefix("host") ? "cc02,dd01" : "dd01")"])
    try await scene.start("walk")
    #expect(try await scene.due() == ["start 0 -> "])
  }

  @Test("a user keeps fifty start tokens of a type, and an activity fifty update tokens")
  func bounds() async throws {
    let scene = try await scene()
    for number in 10...70 {
      try await scene.report("cc\(number)", device: "ab\(number)")
      try await scene.database.sql(
        """
        select tacet.put_start_token('\(scene.user)', 'ab\(number)', '\(LiveActivityScene.type)', 'ee\(number)', null, null)
        """)
    }
    let counts =
      "select (select count(*) from tacet.activity_tokens), (select count(*) from tacet.activity_start_tokens)"
    #expect(try await scene.database.sql(counts) == "50|50")
  }

  @Test("erasing the user and the retention's end take everything along")
  func deletion() async throws {
    let scene = try await scene()
    try await scene.report("cc01")
    try await scene.end()
    try await scene.database.sql("update tacet.activities set ended_at = now() - interval '15 days'")
    let pruned = try await withStore(scene.database) {
      try await $0.prune(PrunedTable.liveActivities.rawValue, olderThan: .seconds(14 * 86_400), on: $1).rows
    }
    #expect(pruned == 1)
    let rows = "select (select count(*) from tacet.activity_updates), (select count(*) from tacet.activity_tokens)"
    #expect(try await scene.database.sql(rows) == "0|0")
    try await scene.start("walk")
    try await scene.database.sql("select tacet.forget_user('\(scene.user)')")
    _ = try await withStore(scene.database) {
      try await $0.eraseUsers(usersMax: 10, rowsMax: 100, settled: .seconds(1), on: $1)
    }
    let left = "select (select count(*) from tacet.activities), (select count(*) from tacet.activity_start_tokens)"
    #expect(try await scene.database.sql(left) == "0|0")
  }
}
