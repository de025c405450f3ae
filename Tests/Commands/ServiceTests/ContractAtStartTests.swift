import Foundation
import Simulators
import Testing

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
