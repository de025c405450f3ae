import Foundation
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@Suite("deploy/smoke", .serialized)
struct SmokeTests {
  private static let script = Repository.file("deploy/smoke").path

  @Test("passes against a running service, with nothing but curl and a command that inserts a message")
  func passes() async throws {
    try await ServiceScene.play { scene, service in
      let insert = try await insertCommand(for: scene)
      let output = try await smoke(service.origin, insert: insert, secret: ServiceScene.secret)
      #expect(output.contains("All checks hold."), "\(output)")
    }
  }

  @Test("fails when the secret is not the service's")
  func fails() async throws {
    try await ServiceScene.play { scene, service in
      let insert = try await insertCommand(for: scene)
      await #expect(throws: TestProcessError.self) {
        try await smoke(service.origin, insert: insert, secret: "another-secret")
      }
    }
  }

  /// What the script printed; an error, with what it printed, unless it exited with 0.
  @discardableResult
  private func smoke(_ origin: String, insert: String, secret: String) async throws -> String {
    try await onOwnThread {
      try run(["/usr/bin/env", "SMOKE_INSERT=\(insert)", "WEBHOOK_SECRET=\(secret)", "bash", Self.script, origin])
    }
  }

  /// A program that inserts a message for somebody who is `away` or `viewing`, and prints its id.
  private func insertCommand(for scene: ServiceScene) async throws -> String {
    let away = try await Conversation(scene, [.away()])
    let viewing = try await Conversation(scene, [.viewing()])
    let path = try makeTemporaryFolder("test-smoke") + "/insert-message"
    let text = """
      #!/bin/sh
      case $1 in
      away) conversation=\(away.id) sender=\(away.sender) ;;
      viewing) conversation=\(viewing.id) sender=\(viewing.sender) ;;
      esac
      exec \(TestPostgres.binaries)/psql -X -q -A -t -d '\(scene.postgres.conninfo(database: scene.database))' -c \\
        "insert into messages (conversation_id, from_id, text) values ('$conversation', '$sender', 'hello') returning id"
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }
}
