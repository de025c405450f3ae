import Foundation
import Simulators
import TestProcesses
import Testing

@Suite("Stops and restarts", .serialized)
struct RestartTests {
  @Test("two processes on one port, restarted in turns each second for ten seconds, fail nobody")
  func restarts() async throws {
    let port = try freePort()
    let scene = try await ServiceScene(extra: ["LISTEN_ADDRESS": "127.0.0.1:\(port)", "REACTORS": "2"])
    var services = [try await scene.startService(), try await scene.startService()]
    let clients = RestartClients(port: port, opening: 4, keeping: 4)
    let start = ContinuousClock.now
    for turn in 0..<10 {
      // The pace of the restarts; nothing is waited for here.
      try await ContinuousClock().sleep(until: start + .seconds(turn))
      try await services[turn % 2].stop()
      services[turn % 2] = try await scene.startService()
    }
    let books = await clients.stop()
    #expect(books.failures == [])
    #expect(books.answers > 1_000)
    for service in services { try await service.stop() }
    await scene.simulator.stop()
  }

  @Test("a stop answers the webhook that waits for its outcome, and readiness says from its beginning that it stops")
  func waitingWebhook() async throws {
    let port = try freePort()
    let extra = ["LISTEN_ADDRESS": "127.0.0.1:\(port)", "REACTORS": "1", "WEBHOOK_WAIT_MILLISECONDS": "20000"]
    try await ServiceScene.play(extra: extra) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      scene.register(conversation.tokens[0][0], delayMilliseconds: 1_500)
      let message = try await conversation.say()
      async let answer = service.webhook(#"{"message_id":"\#(message)"}"#)
      _ = try await scene.pushes(of: message, atLeast: 1)
      async let last = onOwnThread { try Self.lastReadiness(port: port) }
      try await service.process.signal(SIGTERM)
      #expect(try await last.hasPrefix("HTTP/1.1 503 "))
      #expect(try await last.contains("it is stopping"))
      #expect(try await answer.status == 200)
      #expect(try await answer.json["sent"] as? Bool == true)
    }
  }

  /// Asks for readiness without a pause until an answer is the last of its connection.
  private static func lastReadiness(port: UInt16) throws -> String {
    let connection = try BlockingConnection(port: port)
    while true {
      let answer = try connection.ask("/readyz", keeps: true)
      if answer.contains("Connection: close") { return answer }
    }
  }
}
