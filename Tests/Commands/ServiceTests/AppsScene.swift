import Cryptography
import Foundation
import Simulators
import TestProcesses
import Testing

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

  /// Starts another service from the file, beside the one that runs.
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

  /// Waits until the ledger says that the only recipient of a message has it.
  func sent(_ message: String) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await !scene.ledger(of: message, rows: 1).values.contains("sent ") {
      guard ContinuousClock.now < deadline else { throw TestProcessError(description: "\(message) is not sent") }
    }
  }
}
