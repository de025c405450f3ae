import Testing

@Suite("A service without its key set", .serialized)
struct KeySetReadinessTests {
  @Test("it is ready and says what it lacks, tells the log and no password, and stops as ever")
  func unreachable() async throws {
    try await ServiceScene.play(extra: ["JWKS_URL": "http://me:hunter2@127.0.0.1:1/keys"]) { _, service in
      _ = try await service.process.line(containing: "the key set cannot be fetched")
      let answer = try await service.readiness()
      #expect(answer.status == 200)
      let checks = try #require(answer.json["checks"] as? [[String: any Sendable]])
      let check = try #require(checks.first { $0["name"] as? String == "jwks" })
      #expect(check["ready"] as? Bool == true)
      let detail = try #require(check["detail"] as? String)
      #expect(detail.hasPrefix("no key set has been had yet: the host cannot be reached"))
      #expect(!answer.text.contains("hunter2"))
      #expect(!service.process.text.contains("hunter2"))
    }
  }

  @Test("a secret alone is checked for nothing")
  func secretAlone() async throws {
    try await ServiceScene.play(extra: ["JWT_SECRET": String(repeating: "s", count: 32)]) { _, service in
      let answer = try await service.readiness()
      #expect(answer.status == 200)
      #expect(!answer.text.contains("jwks"))
    }
  }
}
