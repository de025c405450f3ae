import Foundation
import TestProcesses
import Testing

@Suite("A hostile client", .timeLimit(.minutes(5)))
struct HostileClientTests {
  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "deploy/lib/hostile.py").path
  private static let serviceKey = "service-key-of-the-hostile-client"

  @Test("finds no body, path or field that is answered with 500 or not at all, and nothing that keeps memory")
  func requests() async throws {
    let settings = AppTests.settings.merging(["SERVICE_KEY": Self.serviceKey, "TRUSTED_PROXIES": "127.0.0.1"]) { $1 }
    try await ServiceScene.play(extra: settings) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let token = AppTests.token(of: conversation.people[0])
      let process = try await service.process.id
      let seed = UInt32.random(in: 0...UInt32.max)
      let output = try await onOwnThread {
        try run([
          "/usr/bin/env", "WEBHOOK_SECRET=\(ServiceScene.secret)", "SERVICE_KEY=\(Self.serviceKey)",
          "CLIENT_TOKEN=\(token)", "python3", Self.script, service.origin, "2000", "\(seed)", "\(process)",
        ])
      }
      print(output)
    }
  }
}
