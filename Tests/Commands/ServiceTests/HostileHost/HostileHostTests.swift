import Foundation
import TestProcesses
import Testing

@Suite("Odd rows that a host's users write", .serialized)
struct HostileHostTests {
  /// An innocent message's way, from its commit to APNs' answer; on a machine that is busy with other work, such as replicas
  /// that are killed and started beside it, four times what such a message took just before the odd rows.
  private static func pushLimit(before: Duration) -> Duration { max(.seconds(2), before * 4) }
  /// Of the service, in kilobytes. Nothing is taken off for the debug build.
  private static let memoryMax = 100_000

  @Test("leave an innocent message on time, and the service's memory small", .timeLimit(.minutes(10)))
  func shapes() async throws {
    #expect(HostileShape.all.count >= 40)
    #expect(Set(HostileShape.all.map(\.name)).count == HostileShape.all.count)
    try await ServiceScene.play(extra: ["REACTORS": "2"]) { scene, service in
      let tokens = (0..<1100).map { _ in Conversation.newToken() }
      for token in tokens { scene.register(token) }
      try await scene.sql(HostileShape.preparation)
      try await scene.sql("insert into hostile.tokens values " + tokens.map { "('\($0)')" }.joined(separator: ","))
      let innocent = try await Conversation(scene, [.away()])
      for shape in HostileShape.all {
        let before = try await scene.timeToPush(innocent.say())
        try await scene.sql(shape.sql)
        #expect(try await isPushedOnTime(innocent, in: scene, before: before), "after \(shape)")
        #expect(try await service.residentKilobytes() < Self.memoryMax, "after \(shape)")
        if !shape.undo.isEmpty { try await scene.sql(shape.undo) }
      }
    }
  }

  /// Whether one of three messages is on time, each pushed once. Odd rows that are still there delay all three; other work on
  /// the machine does not.
  private func isPushedOnTime(
    _ innocent: Conversation, in scene: ServiceScene, before: Duration
  ) async throws -> Bool {
    for _ in 0..<3 {
      let message = try await innocent.say()
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      if try await scene.timeToPush(message) < Self.pushLimit(before: before) { return true }
    }
    return false
  }
}

extension ServiceScene {
  /// From the commit of a message to APNs' answer, by the ledger.
  fileprivate func timeToPush(_ message: String) async throws -> Duration {
    _ = try await ledger(of: message, rows: 1)
    let sql = """
      select (extract(epoch from sent_at - enqueued_at) * 1000)::bigint from tacet.push_log
      where subject_id = '\(message)' and decision = 'sent'
      """
    return .milliseconds(try #require(Int64(try await self.sql(sql))))
  }
}

extension RunningService {
  /// `VmRSS` of the service.
  fileprivate func residentKilobytes() async throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(try await process.id)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
  }
}
