import Cryptography
import Foundation
import Simulators
import TacetClient
import TestLogs
import TestProcesses
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
        for: "1",
        to: "select count(*) from conversation_participants where user_id = '\(user)' and last_seen is not null")
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, held: 1) == [user: "held user_viewing"])
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
      for message in [first, second] { _ = try await scene.ledger(of: message, held: 1) }
      let id = try uuid(conversation.id)
      let receipt = try await client.markRead(conversation: id, upTo: try uuid(first), deviceToken: bytes(tokens[0]))
      #expect(receipt.read == 1 && receipt.badge == 1)
      #expect(Array(try await scene.settled(first).values) == ["skipped already_read"])
      #expect(Array(try await scene.ledger(of: second, held: 1).values) == ["held user_viewing"])
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
  /// Waits for a push.
  fileprivate func push(_ isWanted: (APNSPushRecord) -> Bool) async throws -> APNSPushRecord {
    while true {
      let (found, total) = simulator.service.withLog { ($0.records(PushQuery()).records, $0.total) }
      if let push = found.first(where: isWanted) { return push }
      try #require(await simulator.waitForPushes(total + 1, within: ServiceScene.patience), "no such push")
    }
  }
}

@Suite("Several apps", .serialized)
struct AppsTests {
  private let both = [ServiceScene.bundle, AppsScene.coach]

  @Test("two apps of two teams each get their pushes, with their topic and their team's token")
  func twoTeams() async throws {
    try await AppsScene.play { apps, service in
      let conversation = try await apps.conversation(both)
      let (first, second) = (try await conversation.say(), try await conversation.say())
      let pushes = try await apps.pushesByApp(of: first, both)
      #expect(pushes.keys.sorted() == both.sorted())
      #expect(pushes[both[0]]?.token == conversation.tokens[0][0])
      #expect(pushes[both[1]]?.token == conversation.tokens[1][0])
      // Each team's token is one string; that its key belongs to the topic's team is what the simulator checks.
      let hashes = pushes.mapValues(\.providerTokenHash)
      #expect(Set(hashes.values).count == 2)
      #expect(try await apps.pushesByApp(of: second, both).mapValues(\.providerTokenHash) == hashes)
      let readiness = try await service.readiness()
      #expect(readiness.status == 200)
      for app in both {
        #expect(readiness.text.contains(#"{"name":"apns \#(app)/production","ready":true}"#), "\(readiness.text)")
        let labels = #"{app="\#(app)",environment="production"}"#
        #expect(try await service.counter("tacet_apns_route_open" + labels) == 1)
        #expect(try await service.counter("tacet_apns_route_connected" + labels) == 1)
        #expect(try await service.counter("tacet_apns_route_needed" + labels) == 1)
      }
    }
  }

  @Test("an app whose key is refused says so, and the other goes on")
  func oneRefused() async throws {
    try await AppsScene.play { apps, service in
      apps.revokeKey("KEY0000002")
      let conversation = try await apps.conversation(both)
      let message = try await conversation.say()
      let ledger = try await apps.scene.ledger(of: message, held: 1, others: 1)
      #expect(ledger[conversation.people[0]] == "sent ")
      #expect(ledger[conversation.people[1]] == "held InvalidProviderToken")
    }
  }
}

/// A scene whose apps stand in a settings file that a test can change: `com.example.app` of one team and
/// `com.example.coach` of another to begin with. `com.example.rider` of the first team waits to be added.
struct AppsScene {
  static let coach = "com.example.coach"
  static let rider = "com.example.rider"

  let scene: ServiceScene
  private let folder: String

  init() async throws {
    scene = try await ServiceScene()
    folder = try makeTemporaryFolder("test-apps")
    scene.simulator.service.withRegistry { registry in
      registry.registerBundle(Self.coach, team: "TEAM000002")
      registry.registerBundle(Self.rider, team: "TEAM000001")
    }
    try write(try #require(scene.settings["APNS_PRIVATE_KEY"]), to: "app.p8")
    try registerCoachKey("KEY0000002")
    try writeSettings(coachSection())
  }

  /// Runs a test with the service started from the file.
  ///
  /// On one reactor: two would have connections of their own, and the first push on each goes alone until it is answered.
  static func play(_ body: (AppsScene, RunningService) async throws -> Void) async throws {
    let apps = try await AppsScene()
    let service = try await apps.scene.startService(settings: apps.environment)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(apps, service))
    } catch {
      outcome = .failure(error)
    }
    try await service.stop()
    await apps.scene.simulator.stop()
    try outcome.get()
  }

  /// Starts another service from the file.
  func restart(_ body: (RunningService) async throws -> Void) async throws {
    let service = try await scene.startService(settings: environment)
    try await body(service)
    try await service.stop()
  }

  /// Everything but the apps.
  private var environment: [String: String] {
    scene.settings.filter { !$0.key.hasPrefix("APNS_") || ["APNS_URL", "APNS_CA_FILE"].contains($0.key) }
      .filter { $0.key != "LISTEN_ADDRESS" }.merging(["TACET_CONFIG": folder + "/tacet.conf", "REACTORS": "1"]) { $1 }
  }

  /// Makes a key that the simulator accepts under this name, and writes it where the settings look.
  func registerCoachKey(_ identifier: String) throws {
    let key = P256PrivateKey()
    scene.simulator.service.withRegistry { registry in
      registry.register(ProviderKey(identifier: identifier, team: "TEAM000002", publicKey: key.publicKey))
    }
    try write(key.pem, to: "coach.p8")
  }

  /// Makes the simulator refuse what is signed with a key from now on.
  func revokeKey(_ identifier: String) {
    scene.simulator.service.withRegistry { registry in
      let other = P256PrivateKey().publicKey
      registry.register(ProviderKey(identifier: identifier, team: "TEAM000002", publicKey: other))
    }
  }

  func coachSection(key: String = "KEY0000002") -> String {
    """
    [app \(Self.coach)]
    APNS_KEY_ID=\(key)
    APNS_TEAM_ID=TEAM000002
    APNS_PRIVATE_KEY_FILE=\(folder)/coach.p8
    """
  }

  /// Writes the settings file: the app of the short form, then these sections.
  func writeSettings(address: String = "127.0.0.1:0", _ sections: String...) throws {
    let shortForm = """
      LISTEN_ADDRESS=\(address)
      APNS_KEY_ID=KEY0000001
      APNS_TEAM_ID=TEAM000001
      APNS_BUNDLE_ID=\(ServiceScene.bundle)
      APNS_PRIVATE_KEY_FILE=\(folder)/app.p8
      """
    try write(([shortForm] + sections).joined(separator: "\n\n"), to: "tacet.conf")
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
  }

  /// Gives a device to an app, for the service and for the simulator.
  func assign(_ token: String, to app: String, delayMilliseconds: Int = 0) async throws {
    try await scene.sql("update push_tokens set app = '\(app)' where device_token = '\(token)'")
    scene.simulator.service.withRegistry { registry in
      let device = RegisteredDevice(environment: .production, bundle: app, delayMilliseconds: delayMilliseconds)
      _ = registry.register(device, token: token)
    }
  }

  /// A conversation in which everybody is away, with one device each, of these apps.
  func conversation(_ apps: [String]) async throws -> Conversation {
    let conversation = try await Conversation(scene, apps.map { _ in .away() })
    for (app, tokens) in zip(apps, conversation.tokens) { try await assign(tokens[0], to: app) }
    return conversation
  }

  /// The push of a message to each app, once there is one for each.
  func pushesByApp(of message: String, _ apps: [String]) async throws -> [String: APNSPushRecord] {
    let pushes = try await scene.pushes(of: message, atLeast: apps.count)
    #expect(pushes.allSatisfy { $0.status == 200 }, "\(pushes.map { "\($0.topic) \($0.status) \($0.reason ?? "")" })")
    return Dictionary(pushes.map { ($0.topic, $0) }) { first, _ in
      Issue.record("two pushes of \(message) to \(first.topic)")
      return first
    }
  }
}
