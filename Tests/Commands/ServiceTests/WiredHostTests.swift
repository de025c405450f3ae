import APNSSimulation
import Foundation
import TestHosts
import TestPostgres
import TestProcesses
import Testing

@Suite("Applications wired by tacet init", .serialized)
struct WiredHostTests {
  /// Those whose ids `tacet migrate` takes.
  private static let samples = HostSample.all.filter { $0.migrateOptions.isEmpty }

  @Test("get their pushes without a hand-written line, and the doctor finds nothing that fails", arguments: samples)
  func pushed(_ sample: HostSample) async throws {
    let scene = try await ServiceScene(host: sample.tables, migrateOptions: sample.migrateOptions)
    let file = try makeTemporaryFolder("test-init") + "/wiring.sql"
    let settings = ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)]
    let wiring = try ServiceProcess(["init", "--output", file] + sample.options, settings: settings)
    try #require(try await wiring.exitCode() == 0, "\(wiring.text)")
    let migrate = (["tacet", "migrate"] + sample.migrateOptions).joined(separator: " ")
    #expect(wiring.text.split(separator: "\n").contains { $0.hasSuffix("  \(migrate)") }, "\(wiring.text)")
    try await scene.sql(String(contentsOfFile: file, encoding: .utf8))
    let token = Conversation.newToken()
    try await scene.sql(sample.people.replacing("$token", with: token))
    scene.register(token)
    let service = try await scene.startService()
    try await scene.sql(sample.note)
    let message = try await scene.sql(sample.message)
    let pushes = try await scene.pushes(of: message, atLeast: 1)
    #expect(pushes.count == 1)
    let payload = try #require(pushes.first?.payload)
    #expect(payload.contains(sample.shown.text))
    if let name = sample.shown.name { #expect(payload.contains(name)) }
    #expect(try await scene.ledger(of: message, rows: 1) == [sample.reader: "sent "])
    #expect(try await scene.sql("select (select count(*) from tacet.inbox), count(*) from push_log") == "0|1")
    let run = try await DoctorRun(scene.settings)
    #expect(run.lines("FAIL") == [], "\(run.text)")
    try await service.stop()
    await scene.simulator.stop()
  }
}
