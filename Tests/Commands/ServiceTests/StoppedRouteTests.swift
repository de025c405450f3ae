import Cryptography
import Foundation
import Simulators
import Testing

@Suite("A route whose pushes are all refused", .serialized)
struct StoppedRouteTests {
  private static let messages = 1000

  /// The most requests on a connection after its first refusal. Those that were on their way by then cannot be taken back.
  private static let requestsMax = 10

  /// How long after the refusal's answer requests may still arrive that were on their way, on a machine that is busy with other
  /// tests; microseconds.
  private static let underway: Int64 = 250_000

  private static let answerMilliseconds = 50

  @Test("is stopped within ten requests on each connection when the key is revoked; what waits goes when it is back")
  func revokedKey() async throws {
    try await ServiceScene.play(extra: ["REACTORS": "2"]) { scene, _ in
      let key = try #require(scene.simulator.service.withRegistry { $0.keys["KEY0000001"] })
      scene.simulator.service.withRegistry {
        $0.register(
          ProviderKey(identifier: key.identifier, team: key.team, publicKey: P256PrivateKey().publicKey))
      }
      let conversation = try await Conversation(scene, [.away()])
      try await post(in: conversation, of: scene)
      try await waits(scene)
      check(scene, reason: "InvalidProviderToken")
      scene.simulator.service.withRegistry { $0.register(key) }
      try await sent(scene)
    }
  }

  @Test(
    "is stopped within ten requests when every token is bad, and drops none: whether it had worked before or not",
    arguments: [false, true], [false, true])
  func badTokens(_ isProven: Bool, _ hasSandbox: Bool) async throws {
    try await ServiceScene.play(extra: ["REACTORS": "2"], hasSandbox: hasSandbox) { scene, _ in
      let people = try await Conversation(scene, (0..<20).map { _ in .away() })
      let first = isProven ? try await people.say() : nil
      if let first { _ = try await scene.pushes(of: first, atLeast: 20) }
      let accepted = scene.simulator.service.withLog { $0.total }
      // Their answers take longer than it takes to send what is there, so what is sent after one is told from the rest.
      let stranger = RegisteredDevice(
        environment: .sandbox, bundle: ServiceScene.bundle, delayMilliseconds: Self.answerMilliseconds)
      for token in people.tokens.joined() {
        scene.simulator.service.withRegistry { _ = $0.register(stranger, token: token) }
      }
      try await post(in: people, of: scene)
      try await waits(scene)
      check(scene, reason: "BadDeviceToken", after: accepted)
      let dropped = "select count(*) from push_tokens where invalidated_at is not null"
      #expect(try await scene.sql(dropped) == "0")
    }
  }

  private func post(in conversation: Conversation, of scene: ServiceScene) async throws {
    try await scene.sql(
      """
      insert into messages (conversation_id, from_id, text)
      select '\(conversation.id)', '\(conversation.sender)', 'message ' || n
      from generate_series(1, \(Self.messages / conversation.people.count)) n
      """)
  }

  /// Waits until everything has been decided once, and nothing is on its way; now and then one is, to find out.
  private func waits(_ scene: ServiceScene) async throws {
    let sql = """
      select (select count(*) from tacet.inbox),
        (select count(*) from tacet.deliveries where state in ('waiting', 'retryable') and not is_claimed) >= \(Self.messages)
      """
    try await becomes("0|t", sql, of: scene)
  }

  private func sent(_ scene: ServiceScene) async throws {
    try await becomes("\(Self.messages)", "select count(*) from tacet.push_log where decision = 'sent'", of: scene)
  }

  private func becomes(_ wanted: String, _ sql: String, of scene: ServiceScene) async throws {
    var answer = ""
    for _ in 0..<300 {
      answer = try await scene.sql(sql)
      if answer == wanted { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("\(answer) after half a minute")
  }

  private func check(_ scene: ServiceScene, reason: String, after number: Int = 0) {
    var query = PushQuery()
    query.limit = PushQuery.limitMax
    query.after = number
    let records = scene.simulator.service.withLog { $0.records(query).records }
    #expect(records.contains { $0.reason == reason })
    for (connection, pushes) in Dictionary(grouping: records, by: \.connection) {
      guard let refusal = pushes.first(where: { $0.status != 200 }) else { continue }
      let stopped = (refusal.answeredMicroseconds ?? .max / 2) + Self.underway
      let later = pushes.count { $0.arrivedMicroseconds > stopped }
      print("connection \(connection): \(pushes.count) requests, \(later) after the first refusal")
      #expect(later <= Self.requestsMax, "connection \(connection)")
    }
  }
}
