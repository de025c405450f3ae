import Cryptography
import Foundation
import Simulators
import TacetClient
import TestLogs
import Testing

/// The library for apps, over a real network, against the running service.
@Suite("An app", .serialized)
struct AppTests {
  private static let secret = "the secret that the log-in signs clients' tokens with"
  static let settings = ["JWT_SECRET": secret, "SUPPRESSION_WINDOW_SECONDS": "600"]

  /// What a log-in issues to a user.
  static func token(of user: String) -> String {
    let head = Base64URL.encode(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
    let expiry = Int(Date().timeIntervalSince1970) + 3600
    let claims = Base64URL.encode(
      #"{"sub":"\#(user)","aud":"authenticated","role":"authenticated","exp":\#(expiry)}"#.utf8)
    let code = HMACSHA256(key: Array(secret.utf8)).code(for: Array("\(head).\(claims)".utf8))
    let token = "\(head).\(claims).\(Base64URL.encode(code.bytes))"
    RunLogs.note(token, as: .clientToken)
    return token
  }

  private func client(of user: String, _ service: RunningService) throws -> PushServiceClient {
    PushServiceClient(origin: try #require(URL(string: service.origin))) { Self.token(of: user) }
  }

  private func bytes(_ token: String) -> Data {
    Data(stride(from: 0, to: token.count, by: 2).compactMap { UInt8(token.dropFirst($0).prefix(2), radix: 16) })
  }

  private func uuid(_ text: String) throws -> UUID { try #require(UUID(uuidString: text)) }

  @Test("registers its device, gets a push there, and says that it was opened")
  func opened() async throws {
    try await ServiceScene.play(extra: Self.settings) { scene, service in
      let conversation = try await Conversation(scene, [.init(devices: [])])
      let user = conversation.people[0]
      let client = try self.client(of: user, service)
      let token = Conversation.newToken()
      scene.register(token)
      try await client.register(
        DeviceRegistration(deviceToken: bytes(token), environment: .production, app: ServiceScene.bundle))
      let message = try await conversation.say()
      let push = try #require(try await scene.pushes(of: message, atLeast: 1).first)
      #expect(push.token == token)
      let payload = try JSONSerialization.jsonObject(with: Data(push.payload.utf8)) as? [String: Any]
      let id = try #require(payload?["push_log_id"] as? String)
      _ = try await scene.settled(message)
      #expect(try await scene.sql("select opened from tacet.push_log where user_id = '\(user)'") == "f")
      try await client.opened(try uuid(id))
      #expect(try await scene.sql("select opened from tacet.push_log where id = '\(id)'") == "t")
      let stranger = try self.client(of: conversation.sender, service)
      let error = await #expect(throws: PushServiceError.self) { try await stranger.opened(try uuid(id)) }
      #expect(error?.code == .notFound)
    }
  }

  @Test("holds pushes while it shows the conversation, and lets them go when it shows it no more")
  func presence() async throws {
    try await ServiceScene.play(extra: Self.settings) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      let client = try self.client(of: user, service)
      let reporter = TacetClient.PresenceReporter(client)
      await reporter.show(.conversation(try uuid(conversation.id)))
      try await scene.wait(
        until:
          "exists (select from conversation_participants where user_id = '\(user)' and last_seen is not null)")
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, rows: 1) == [user: "held user_viewing"])
      await reporter.show(nil)
      #expect(try await scene.settled(message) == [user: "sent "])
      let stranger = try self.client(of: UUID().uuidString.lowercased(), service)
      let error = await #expect(throws: PushServiceError.self) {
        try await stranger.stayPresent(at: .conversation(try uuid(conversation.id)))
      }
      #expect(error?.code == .forbidden)
    }
  }

  @Test("marks a conversation as read, and tells the user's other devices")
  func read() async throws {
    try await ServiceScene.play(extra: Self.settings) { scene, service in
      let tokens = [Conversation.newToken(), Conversation.newToken()]
      let conversation = try await Conversation(scene, [.init(devices: tokens, lastSeen: "now()")])
      let client = try self.client(of: conversation.people[0], service)
      let first = try await conversation.say()
      let second = try await conversation.say()
      _ = try await scene.ledger(of: second, rows: 1)
      let id = try uuid(conversation.id)
      let receipt = try await client.markRead(conversation: id, upTo: try uuid(first), deviceToken: bytes(tokens[0]))
      #expect(receipt.read == 1 && receipt.badge == 1)
      #expect(Array(try await scene.settled(first).values) == ["skipped already_read"])
      #expect(Array(try await scene.ledger(of: second, rows: 1).values) == ["held user_viewing"])
      let push = try await scene.push { $0.payload.contains(first) }
      #expect(push.token == tokens[1])
      #expect(push.payload.contains(#""content-available":1"#) && !push.payload.contains("alert"))
    }
  }

  @Test("logs out, and the next user of the same device gets nothing of the last one's")
  func logOut() async throws {
    try await ServiceScene.play(extra: Self.settings) { scene, service in
      let conversation = try await Conversation(scene, [.init(devices: []), .init(devices: [])])
      let token = Conversation.newToken()
      scene.register(token)
      let device = DeviceRegistration(deviceToken: bytes(token), environment: .production, app: ServiceScene.bundle)
      let first = try self.client(of: conversation.people[0], service)
      let second = try self.client(of: conversation.people[1], service)
      try await first.register(device)
      try await second.register(device)
      let message = try await conversation.say()
      let outcomes = try await scene.settled(message)
      #expect(outcomes == [conversation.people[0]: "skipped no_tokens", conversation.people[1]: "sent "])
      try await second.removeDevice(token: bytes(token))
      let later = try await conversation.say()
      #expect(Set(try await scene.settled(later).values) == ["skipped no_tokens"])
    }
  }
}

extension ServiceScene {
  /// Waits until a condition of SQL holds.
  fileprivate func wait(until condition: String) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await sql("select \(condition)") != "t" {
      try #require(ContinuousClock.now < deadline, "never: \(condition)")
    }
  }

  /// Waits for a push.
  fileprivate func push(_ isWanted: (APNSPushRecord) -> Bool) async throws -> APNSPushRecord {
    while true {
      let (found, total) = simulator.service.withLog { ($0.records(PushQuery()).records, $0.total) }
      if let push = found.first(where: isWanted) { return push }
      try #require(await simulator.waitForPushes(total + 1, within: .seconds(20)), "no such push")
    }
  }
}
