import Foundation
import Simulators
import TestHosts
import TestIDs
import TestPostgres
import TestProcesses
import TestRepository
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

extension RunningService {
  /// `VmRSS` of the service.
  fileprivate func residentKilobytes() async throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(try await process.id)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
  }
}

@Suite("Rows that a host hides, behind a running service", .serialized)
struct HiddenRowsTests {
  @Test("are not pushed, and what follows is", arguments: [HiddenHost.standard, .other])
  func hidden(_ host: HiddenHost) async throws {
    let preparations = HiddenShape.all.map { host.written($0.preparation) }.joined(separator: ";")
    let tables = host.tables.isEmpty ? try String(contentsOf: Repository.hostTables, encoding: .utf8) : host.tables
    let scene = try await ServiceScene(
      host: tables + preparations, migrateOptions: host.tables.isEmpty ? [] : HostSample.uuids)
    if !host.tables.isEmpty {
      let folder = try makeTemporaryFolder("test-hidden")
      let file = folder + "/wiring.sql"
      let wiring = try ServiceProcess(
        ["init", "--mapping", folder + "/tacet.host", "--output", file],
        settings: ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)])
      try #require(try await wiring.exitCode() == 0, "\(wiring.text)")
      try await scene.postgres.psql(script: String(contentsOfFile: file, encoding: .utf8), database: scene.database)
    }
    let token = Conversation.newToken()
    scene.register(token)
    try await scene.sql(host.people(token))
    let service = try await scene.startService(settings: scene.settings)
    // Hidden before the commit, as an application inserts it.
    for shape in HiddenShape.all {
      try await scene.sql("begin; \(host.saying); \(host.written(shape.hide)); commit")
      try await scene.wait(for: "0", to: "select count(*) from tacet.inbox")
      let sent = try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'")
      #expect(sent == "0", "\(shape)")
      try await scene.sql(host.written(shape.show))
    }
    let message = try await scene.sql(host.saying)
    #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    #expect(try await Array(scene.settled(message).values) == ["sent "])
    #expect(try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'") == "1")
    try await service.stop()
    await scene.simulator.stop()
  }
}

@Suite("The host contract at a start")
struct ContractAtStartTests {
  @Test("a contract that fails is told with function, SQLSTATE and column, and the service is not ready")
  func failing() async throws {
    let scene = try await ServiceScene()
    try await scene.sql("alter table push_tokens rename column platform to system")
    let service = try await scene.startService()
    let line = try await service.process.line(containing: "tacet.device_tokens fails")
    #expect(line.contains("messages would not be pushed as they should"))
    #expect(line.contains("42703") && line.contains("platform") && line.contains("replace it"))
    let answer = try await service.get("/readyz")
    #expect(answer.status == 503)
    let checks = try #require(answer.json["checks"] as? [[String: any Sendable]])
    let contract = try #require(checks.first { $0["name"] as? String == "contract" })
    #expect(contract["ready"] as? Bool == false)
    let detail = try #require(contract["detail"] as? String)
    #expect(detail.contains("tacet.device_tokens") && !detail.contains("platform"))
    try await service.stop()
    await scene.simulator.stop()
  }

  @Test("without the trigger on messages the log says so, and webhooks are served")
  func noTrigger() async throws {
    let scene = try await ServiceScene()
    try await scene.sql("drop trigger tacet_message_inserted on messages")
    let service = try await scene.startService()
    let line = try await service.process.line(containing: "no table has an enabled trigger")
    #expect(line.contains("create trigger tacet_message_inserted"))
    #expect(try await service.readiness().status == 200)
    try await service.stop()
    await scene.simulator.stop()
  }
}
