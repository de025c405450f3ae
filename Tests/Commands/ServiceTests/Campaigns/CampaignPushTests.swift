import Foundation
import Simulators
import Testing

@Suite("A campaign's push", .serialized)
struct CampaignPushTests {
  private struct Payload: Decodable {
    struct Notice: Decodable {
      struct Alert: Decodable {
        let title: String
        let body: String
      }

      let alert: Alert
    }

    let aps: Notice
    let domain: String
    let action: String
    let push_type: String
    let push_log_id: String
  }

  @Test(
    "tells the app its domain, its type, what to do and its row of the ledger",
    arguments: [(.event, "event_based"), (.pattern, "pattern_based"), (.away, "re_engagement")]
      as [(CoachUser.Situation, String)])
  func payload(situation: CoachUser.Situation, type: String) async throws {
    try await CoachScene.play { coach, service in
      let user = CoachUser(situation)
      try await coach.add([user])
      let answer = try await HTTPAnswer.ask("POST", "/v1/push-trigger", at: service.origin, prefer: "wait=30")
      #expect(answer.status == 200 && answer.json["committed"] as? Int == 1, "\(answer.text)")
      try #require(await coach.scene.simulator.waitForPushes(1, within: .seconds(20)))
      let record = try #require(coach.scene.simulator.service.withLog { $0.records(PushQuery()).records }.first)
      #expect(record.token.lowercased() == user.devices[0])
      let payload = try JSONDecoder().decode(Payload.self, from: Data(record.payload.utf8))
      #expect(payload.domain == "work" && payload.action == "new_conversation" && payload.push_type == type)
      #expect(!payload.aps.alert.title.isEmpty && !payload.aps.alert.body.isEmpty)
      #expect(try await coach.scene.settle(within: .seconds(20)) == [:])
      let row = try await coach.scene.sql(
        """
        select push_type, decision, content, metadata ->> 'layer', metadata ->> 'campaign'
        from tacet.push_log where id = '\(payload.push_log_id)' and user_id = '\(user.id)'
        """)
      let layer = type == "re_engagement" ? type : String(type.prefix { $0 != "_" })
      #expect(row == "\(type)|sent|\(payload.aps.alert.title)\n\(payload.aps.alert.body)|\(layer)|coach")
      let told = try await coach.explain(user)
      print("\n\(told)")
      #expect(told.contains("A push was sent.") && told.contains("written by the model"), "\(told)")
      #expect(told.contains("accepted by APNs") && told.contains("not opened"))
    }
  }
}
