import Foundation
import Simulators
import TestHosts
import TestIDs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@Suite("Rows that a host hides, behind a running service", .serialized)
struct HiddenRowsTests {
  @Test("are not pushed, and what follows is", arguments: [HiddenHost.standard, .other])
  func hidden(_ host: HiddenHost) async throws {
    let preparations = HiddenShape.all.map { host.written($0.preparation) }.joined(separator: ";")
    let tables = host.tables.isEmpty ? try String(contentsOf: Repository.hostTables, encoding: .utf8) : host.tables
    let scene = try await ServiceScene(host: tables + preparations)
    if !host.tables.isEmpty {
      let file = try makeTemporaryFolder("test-hidden") + "/wiring.sql"
      let wiring = try ServiceProcess(
        ["init", "--output", file], settings: ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)])
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
      try await expectNothingWaits(in: scene)
      let sent = try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'")
      #expect(sent == "0", "\(shape)")
      try await scene.sql(host.written(shape.show))
    }
    let message = try await scene.sql(host.saying)
    #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    #expect(try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'") == "1")
    try await service.stop()
    await scene.simulator.stop()
  }

  private func expectNothingWaits(in scene: ServiceScene) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await scene.sql("select count(*) from tacet.inbox") != "0" {
      guard ContinuousClock.now < deadline else { throw TestProcessError(description: "a message waits for 20 s") }
    }
  }
}
