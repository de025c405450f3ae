import Cryptography
import TestAPNSCases

@testable import Simulators

/// A service with a standing clock, one phone with a token of each kind, and a sender of Live Activity pushes.
struct ActivityStand {
  static let seconds: Int64 = 1_790_000_000
  static let bundle = "com.example.app"
  static let startToken = "aa00"
  static let deviceToken = "dd00"
  static let owner = SimulatedActivity.Owner(environment: .production, bundle: bundle)

  /// The members of a start besides its `timestamp`.
  static let start = """
    "event":"start","attributes-type":"RideAttributes","attributes":{"id":"r1"},"content-state":{"eta":1},\
    "alert":{"title":"Ride","body":"On its way"}
    """

  let service = SimulatedService(clock: SimulationClock(standingAt: WallInstant(seconds: seconds)), seed: 1)
  private let key = P256PrivateKey()

  init(allowsUpdates: Bool? = nil) {
    let key = key
    service.withRegistry { registry in
      registry.register(ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
      registry.registerBundle(Self.bundle, team: nil)
    }
    register(Self.startToken, .pushToStart(attributesType: "RideAttributes", allowsUpdates: allowsUpdates))
    register(Self.deviceToken, .device)
  }

  @discardableResult
  func register(_ token: String, _ kind: TokenKind) -> Bool {
    service.register(
      RegisteredDevice(environment: .production, bundle: Self.bundle, name: "phone", kind: kind), token: token)
  }

  func advance(seconds: Int64) {
    service.clock.advance(milliseconds: seconds * 1000)
  }

  /// All activities, oldest first.
  var activities: [SimulatedActivity] { service.withActivities { $0.all } }

  /// The number of drops for each reason.
  var drops: [ActivityDrop: Int] { service.withActivities { $0.drops.counts } }

  var now: WallInstant { service.clock.now }

  /// Sends a start that the phone follows.
  /// - Returns: the activity.
  func begin(_ more: String = #""input-push-token":1"#) throws -> SimulatedActivity? {
    _ = try push(#""timestamp":\#(now.seconds),\#(Self.start),\#(more)"#, to: Self.startToken)
    return activities.last
  }

  /// Sends a push.
  /// - Parameter aps: the members of `aps`.
  func push(_ aps: String, to token: String, priority: Int = 10) throws -> Reception {
    try receive(
      path: "/3/device/\(token)", aps,
      [
        ("apns-topic", Self.bundle + ".push-type.liveactivity"), ("apns-push-type", "liveactivity"),
        ("apns-priority", String(priority)),
      ])
  }

  private func receive(path: String, _ aps: String, _ fields: [(String, String)]) throws -> Reception {
    try receive(method: "POST", path: path, body: #"{"aps":{\#(aps)}}"#, fields)
  }

  private func receive(
    method: String, path: String, body: String, _ fields: [(String, String)]
  ) throws -> Reception {
    let token = try ProviderTokenMint(
      keyIdentifier: "KEY0000001", issuer: "TEAM000001", issuedAt: "\(now.seconds)"
    ).sign(with: key)
    let fields = fields.map { (name: $0.0, value: $0.1) } + [(name: "authorization", value: "bearer \(token)")]
    var binding = ProviderBinding()
    return service.receive(
      InspectedRequest(method: method, path: path, fields: fields, body: Array(body.utf8)),
      from: RequestOrigin(
        environment: .production, connection: 1, stream: 1, arrival: WallInstant(microseconds: 1_500_250)),
      binding: &binding)
  }
}
