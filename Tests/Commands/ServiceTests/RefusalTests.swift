import Foundation
import FoundationNetworking
import Simulators
import Testing

@Suite("Bad input", .serialized)
struct RefusalTests {
  @Test("is refused with a status and a problem that says what is wrong")
  func refusals() async throws {
    try await ServiceScene.play { _, service in
      for (body, field) in [
        ("{", nil), ("[]", nil), ("{}", "message_id"), (#"{"message_id": 7}"#, "message_id"),
        (#"{"message_id": "7"}"#, "message_id"), (#"{"type": "INSERT", "record": {"id": null}}"#, "record.id"),
        (#"{"type": "DELETE", "record": {"id": "x"}}"#, "type"),
      ] as [(String, String?)] {
        let answer = try await service.webhook(body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer.field("Content-Type") == "application/problem+json")
        #expect(answer.json["field"] as? String == field, "\(body): \(answer.text)")
      }
      let body = #"{"message_id": "\#(UUID().uuidString)"}"#
      #expect(try await service.webhook(body, secret: nil).status == 401)
      #expect(try await service.webhook(body, secret: "wrong").status == 401)
      #expect(try await service.webhook(body).status == 404)
      #expect(try await service.webhook(body, fields: ["Content-Type": "text/plain"]).status == 415)
      #expect(try await service.webhook(String(repeating: " ", count: 2 << 20)).status == 413)
      #expect(try await service.get("/nowhere").status == 404)
      let wrongMethod = try await service.get("/v1/webhooks/messages")
      #expect(wrongMethod.status == 405 && wrongMethod.field("Allow")?.contains("POST") == true)
    }
  }

  @Test("readiness says what is forgone behind a pooler, and is not refused for it")
  func pooled() async throws {
    try await ServiceScene.play(route: .pooler) { _, service in
      let readiness = try await service.readiness()
      #expect(readiness.status == 200, "\(readiness.text)")
      #expect(readiness.text.contains("DATABASE_POOL_MODE is transaction"))
    }
  }

  @Test("health, readiness, metrics and the description are open to all")
  func health() async throws {
    try await ServiceScene.play { _, service in
      let (health, readiness) = (try await service.get("/healthz"), try await service.readiness())
      #expect(health.status == 200 && readiness.status == 200)
      #expect(try await service.get("/openapi.yaml").text.hasPrefix("openapi: 3.1"))
      #expect(try await service.get("/metrics").text.contains("tacet_reactor_ticks_total"))
    }
  }
}
