import APNSSimulation
import Cryptography
import Foundation
import PushRules

/// The simulator's judge with one app, one device and one key.
struct PayloadJudge {
  static let bundle = "com.example.app"
  static let now = WallInstant(seconds: 1_790_000_000)

  let deviceToken: DeviceToken
  private let key = P256PrivateKey()
  private let authorization: String
  private var judge = RequestJudge(environment: .production, seed: 1)
  private var binding = ProviderBinding()
  private var registry = SimulationRegistry()

  init() throws {
    deviceToken = try DeviceToken(String(repeating: "ab", count: 32))
    authorization = try Self.authorization(key)
    registry.register(ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    registry.registerBundle(Self.bundle, team: "TEAM000001")
    registry.register(
      RegisteredDevice(environment: .production, bundle: Self.bundle), token: deviceToken.hexadecimal)
  }

  /// What the service would answer to a push as the client sends it.
  mutating func verdict(on push: PushRequest) -> PushVerdict {
    let request = InspectedRequest(
      method: "POST", path: push.head.path, fields: push.head.fields + [(name: "authorization", value: authorization)],
      body: push.body)
    return judge.judge(request, binding: &binding, registry: &registry, now: Self.now)
  }

  /// A push of a payload with the push type's usual fields, unless others are given.
  func request(
    _ payload: some PushPayload, priority: PushPriority? = nil, expiration: PushExpiration? = nil,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws -> PushRequest {
    try PushRequest(
      payload, to: deviceToken, of: BundleIdentifier(Self.bundle), priority: priority, expiration: expiration,
      identifier: PushIdentifier(eventKind: "message", event: "m-1", recipient: "u-1", deviceToken: deviceToken),
      collapseIdentifier: collapseIdentifier)
  }

  private static func authorization(_ key: P256PrivateKey) throws -> String {
    let header = Base64URL.encode(#"{"alg":"ES256","kid":"KEY0000001"}"#.utf8)
    let claims = Base64URL.encode(#"{"iss":"TEAM000001","iat":\#(now.seconds)}"#.utf8)
    let signature = try key.sign(Array("\(header).\(claims)".utf8))
    return "bearer \(header).\(claims).\(Base64URL.encode(signature.raw))"
  }
}
