import Foundation
import FoundationNetworking
import TestPostgres
import Testing

@Suite("Callers whose requests wait in the database")
struct BusyCallersTests {
  private static let serviceKey = "service-key-of-the-busy-callers"

  @Test("other servers' requests that wait for a lock hold up no push")
  func locked() async throws {
    try await ServiceScene.play(extra: ["SERVICE_KEY": Self.serviceKey, "REACTORS": "1"]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let first = try await conversation.say()
      _ = try await scene.ledger(of: first, rows: 1)
      // Ends by itself: the service's own limit for a statement is five seconds.
      async let lock = scene.sql("begin; lock table tacet.pushes in share mode; select pg_sleep(20)")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<24 {
          group.addTask { _ = try await submit(to: conversation.people[0], service) }
        }
        let blocked =
          "select count(*) from pg_locks where relation = 'tacet.pushes'::regclass and not granted"
        let deadline = ContinuousClock.now + .seconds(10)
        while try await scene.sql(blocked) == "0" { try #require(ContinuousClock.now < deadline) }
        let said = ContinuousClock.now
        let message = try await conversation.say()
        _ = try await scene.ledger(of: message, rows: 1)
        #expect(ContinuousClock.now - said < .seconds(3))
        try await scene.sql(
          "select pg_terminate_backend(pid) from pg_locks where relation = 'tacet.pushes'::regclass and mode = 'ShareLock'"
        )
        try await group.waitForAll()
      }
      _ = try? await lock
    }
  }

  private func submit(to user: String, _ service: RunningService) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: service.origin + "/v1/pushes")))
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"user_id":"\#(user)","title":"Hello","body":"There"}"#.utf8)
    for (name, value) in [
      "Authorization": "Bearer \(Self.serviceKey)", "Content-Type": "application/json", "Prefer": "respond-async",
    ] {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return try await HTTPAnswer(of: request)
  }
}
