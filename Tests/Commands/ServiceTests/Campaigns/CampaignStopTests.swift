import Foundation
import Simulators
import Testing

@Suite("A campaign's run that is stopped", .serialized)
struct CampaignStopTests {
  private static let count = 20

  @Test("ends with whom it has begun, and the next process takes the others at once, unless it is switched off")
  func resumed() async throws {
    let script = ModelScript(.init(.reply(), delayMilliseconds: 400))
    let coach = try await CoachScene(script)
    let users = (0..<Self.count).map { _ in CoachUser(.away) }
    try await coach.add(users)
    let first = try await coach.scene.startService()
    let begun = try await HTTPAnswer.ask("POST", "/v1/push-trigger", at: first.origin, prefer: "respond-async")
    #expect(begun.status == 202)
    let run = try #require(begun.json["run_id"] as? String)
    #expect(await coach.model.waitForRequests(1, within: .seconds(20)))
    try await first.stop()
    let left = try await Self.undecided(coach)
    #expect((1..<Self.count).contains(left), "\(left)")
    let leased = "select count(*) from tacet.campaign_decisions where decision is null and available_at > now()"
    #expect(try await coach.scene.sql(leased) == "0")

    let off = try await coach.scene.startService(extra: ["PUSH_TRIGGER_ENABLED": "false"])
    let path = "/v1/push-trigger/\(run)"
    #expect(try await HTTPAnswer.ask("POST", "/v1/push-trigger", at: off.origin).status == 403)
    #expect(try await HTTPAnswer.ask("GET", path, at: off.origin).json["undecided"] as? Int == left)
    try await off.stop()
    #expect(try await Self.undecided(coach) == left)

    let second = try await coach.scene.startService()
    #expect(await coach.scene.simulator.waitForPushes(Self.count, within: .seconds(30)))
    let status = try await HTTPAnswer.ask("GET", path, at: second.origin).json
    #expect(status["finished"] as? Bool == true && status["committed"] as? Int == Self.count)
    let devices = coach.scene.simulator.service.withLog { $0.records(PushQuery()).records.map(\.token) }
    #expect(Set(devices).count == Self.count && devices.count == Self.count)
    try await second.stop()
    await coach.stop()
  }

  private static func undecided(_ coach: CoachScene) async throws -> Int {
    Int(try await coach.scene.sql("select count(*) from tacet.campaign_decisions where decision is null")) ?? -1
  }
}
