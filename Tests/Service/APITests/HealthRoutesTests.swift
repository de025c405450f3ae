import Reactors
import Testing

@testable import API

@Suite("The routes for operators")
struct HealthRoutesTests {
  private func get(_ path: String, of rig: ServiceRig) async throws -> PlainResponse {
    try await PlainClient.ask("GET", path, port: rig.port)
  }

  @Test("liveness needs nothing but the reactor")
  func health() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await get("/healthz", of: rig)
      #expect(response.status == 200)
      #expect(response.body == #"{"status":"ok"}"#)
    }
  }

  @Test("readiness is 200 when every check is well, and 503 with the reason when one is not")
  func readiness() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      await rig.parts.perform { parts, _ in parts.checks = [ReadinessCheck("database", isReady: true)] }
      let well = try await get("/readyz", of: rig)
      #expect(well.status == 200)
      #expect(well.body == #"{"checks":[{"name":"database","ready":true}],"ready":true}"#)
      await rig.parts.perform { parts, _ in
        parts.checks.append(ReadinessCheck("apns", isReady: false, detail: "no route"))
      }
      let ill = try await get("/readyz", of: rig)
      #expect(ill.status == 503)
      let checks = #"{"name":"database","ready":true},{"detail":"no route","name":"apns","ready":false}"#
      #expect(ill.body == #"{"checks":[\#(checks)],"ready":false}"#)
    }
  }

  @Test("figures and the description of the interface are served under their media types")
  func texts() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let metrics = try await get("/metrics", of: rig)
      #expect(metrics.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(metrics.body.hasPrefix("reactor_name{"))
      let description = try await get("/openapi.yaml", of: rig)
      #expect(description.status == 200)
      #expect(description.fields["content-type"] == "application/yaml")
      #expect(!description.body.isEmpty)
    }
  }

  @Test("other paths are 404, other methods 405")
  func elsewhere() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      #expect(try await get("/v1/webhooks", of: rig).status == 404)
      let response = try await get("/v1/webhooks/messages", of: rig)
      #expect(response.status == 405)
      #expect(response.fields["allow"]?.contains("POST") == true)
    }
  }
}
