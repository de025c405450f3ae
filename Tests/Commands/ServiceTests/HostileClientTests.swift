import Foundation
import TestProcesses
import TestRepository
import Testing

@Suite("A hostile client", .timeLimit(.minutes(5)))
struct HostileClientTests {
  private static let script = Repository.file("deploy/lib/hostile.py").path
  private static let serviceKey = "service-key-of-the-hostile-client"

  @Test("finds nothing that is answered with 500 or not at all, keeps memory or holds up a push")
  func requests() async throws {
    let settings = AppTests.settings.merging(["SERVICE_KEY": Self.serviceKey, "TRUSTED_PROXIES": "127.0.0.1"]) { $1 }
    try await ServiceScene.play(extra: settings) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let message = try await conversation.say()
      try await scene.sql(
        """
        insert into profiles (id)
        select ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid from generate_series(0, 4095) n
        """)
      let secret = AppTests.settings["JWT_SECRET", default: ""]
      let process = try await service.process.id
      let seed = UInt32.random(in: 0...UInt32.max)
      let output = try await onOwnThread {
        try run([
          "/usr/bin/env", "WEBHOOK_SECRET=\(ServiceScene.secret)", "SERVICE_KEY=\(Self.serviceKey)",
          "JWT_SECRET=\(secret)", "KNOWN_IDS=\(conversation.id) \(message)", "python3", Self.script, service.origin,
          "2000", "\(seed)", "\(process)",
        ])
      }
      print(output)
      let innocent = try await conversation.say()
      #expect(try await scene.ledger(of: innocent, rows: 1) == [conversation.people[0]: "sent "])
    }
  }
}
