import Cryptography
import Foundation
import FoundationNetworking
import Reactors
import Simulators
import TestLogs
import TestProcesses
import Testing

/// A scene whose service also pushes to browsers and to Android, over a stand-in for each.
struct ChannelScene {
  /// An Android app's registration token.
  static let androidToken = token("a")

  /// A token of FCM's form.
  static func token(_ name: String) -> String {
    let name = name + String(repeating: "x", count: max(0, 22 - name.count))
    return name + ":APA91b" + String(repeating: "A", count: 134)
  }

  private static let serviceKey = "the-service-key-of-the-tests-long-enough"

  let scene: ServiceScene
  let browsers: WebPushSimulator
  let android: FCMSimulator
  private let publicKey: String

  /// Runs a test; everything is stopped afterwards.
  static func play(
    extra: [String: String] = [:], _ body: (ChannelScene, RunningService) async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: 1)
    var webPush = WebPushSimulatorConfiguration()
    webPush.logger = RunLogs.logger
    let browsers = try await WebPushSimulator.start(webPush, on: group.reactors[0])
    var fcm = FCMSimulatorConfiguration()
    fcm.logger = RunLogs.logger
    fcm.acceptsAnyToken = true
    let android = try await FCMSimulator.start(fcm, on: group.reactors[0])
    let folder = try makeTemporaryFolder("test-channels")
    try #require(browsers.certificateAuthority).write(
      toFile: folder + "/push.pem", atomically: true, encoding: .utf8)
    let key = P256PrivateKey()
    let scene = try await ServiceScene(
      extra: [
        "VAPID_PRIVATE_KEY": key.pem, "VAPID_SUBJECT": "mailto:ops@example.com",
        "WEB_PUSH_HOSTS": "\(browsers.address)",
        "WEB_PUSH_URL": "https://chat.example.com/c/{conversation_id}", "WEB_PUSH_CA_FILE": folder + "/push.pem",
        "FCM_SERVICE_ACCOUNT": try android.makeServiceAccount(), "FCM_URL": android.origin,
        "SERVICE_KEY": serviceKey, "REACTORS": "1",
      ].merging(AppTests.settings) { $1 }.merging(extra) { $1 })
    let service = try await scene.startService()
    let outcome: Result<Void, any Error>
    do {
      let channels = ChannelScene(
        scene: scene, browsers: browsers, android: android, publicKey: Base64URL.encode(key.publicKey.x963))
      outcome = .success(try await body(channels, service))
    } catch {
      outcome = .failure(error)
    }
    try await service.stop()
    await scene.simulator.stop()
    await browsers.stop()
    await android.stop()
    await group.stop()
    try outcome.get()
  }

  /// Subscribes a browser, as its page does.
  func subscribe(_ user: String, as name: String, at service: RunningService) async throws {
    let subscription = SimulatedSubscription(identifier: name, serverKey: publicKey)
    browsers.service.add(subscription)
    let body = """
      {"endpoint": "\(browsers.service.endpoint(of: subscription))",
      "keys": {"p256dh": "\(subscription.p256dh)", "auth": "\(subscription.auth)"}}
      """
    #expect(try await service.put("/v1/web-push/subscriptions", body, as: user).status == 200)
  }

  /// Registers an Android app.
  func register(
    _ user: String, _ token: String = androidToken, sealingKey: String? = nil, at service: RunningService
  ) async throws {
    let key = sealingKey.map { #", "sealing_key": "\#($0)""# } ?? ""
    #expect(try await service.put("/v1/fcm/registrations", #"{"token": "\#(token)"\#(key)}"#, as: user).status == 204)
  }

  /// The document that a browser has got, with its arrival.
  func browserPushes(atLeast count: Int) async throws -> [WebPushRecord] {
    try #require(await browsers.waitForPushes(count, within: .seconds(20)))
    return browsers.service.pushes
  }
}

extension RunningService {
  /// Calls as the app of a user.
  func put(_ path: String, _ body: String, as user: String) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: origin + path)))
    request.httpMethod = "PUT"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue("Bearer \(AppTests.token(of: user))", forHTTPHeaderField: "Authorization")
    return try await HTTPAnswer(of: request)
  }
}
