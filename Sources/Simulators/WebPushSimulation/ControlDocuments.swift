internal import Cryptography
internal import HTTP1
internal import SimulationControl

struct SubscriptionDocument: ControlDocument {
  /// A random one when absent.
  var identifier: String?
  /// Any key may push when absent.
  var serverKey: String?
  var face: PushServiceFace?
  /// `active` when absent.
  var state: SimulatedSubscription.State?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case face, state
    case identifier = "id"
    case serverKey = "vapid_key"
  }

  /// - Throws: `ProblemDetails` for a key or an identifier that cannot be.
  func subscription(_ usual: PushServiceFace) throws(ProblemDetails) -> SimulatedSubscription {
    if let serverKey {
      guard let point = Base64URL.decode(serverKey.utf8), (try? P256PublicKey(x963: point)) != nil else {
        throw ProblemDetails.unfit("vapid_key is base64url of a point on P-256, without padding")
      }
    }
    let identifier = identifier ?? SHA256.hash((0..<16).map { _ in .random(in: 0...255) }).hexadecimal(bytes: 16)
    guard (1...200).contains(identifier.utf8.count), identifier.utf8.allSatisfy(Self.isPlain) else {
      throw ProblemDetails.unfit("id has letters, digits, - and _, at most 200")
    }
    return SimulatedSubscription(
      identifier: identifier, serverKey: serverKey, face: face ?? usual, state: state ?? .active)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// A subscription in the form of the browser's `PushSubscription.toJSON()`, with what only the stand-in knows.
struct SubscriptionAnswer: Encodable {
  struct Keys: Encodable {
    let p256dh: String
    let auth: String
  }

  let id: String
  let endpoint: String
  let keys: Keys
  let face: PushServiceFace
  let state: SimulatedSubscription.State
  let vapidKey: String?

  enum CodingKeys: String, CodingKey {
    case id, endpoint, keys, face, state
    case vapidKey = "vapid_key"
  }

  init(_ subscription: SimulatedSubscription, _ service: SimulatedPushService) {
    id = subscription.identifier
    endpoint = service.endpoint(of: subscription)
    keys = Keys(p256dh: subscription.p256dh, auth: subscription.auth)
    face = subscription.face
    state = subscription.state
    vapidKey = subscription.serverKey
  }
}

struct StateDocument: ControlDocument {
  let state: SimulatedSubscription.State

  enum CodingKeys: String, CodingKey, CaseIterable {
    case state
  }
}

struct ClockDocument: ControlDocument {
  let advanceMilliseconds: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }

  /// - Throws: `ProblemDetails` for more than a century.
  func checked() throws(ProblemDetails) -> Int64 {
    let limit = ControlLimits.clockMillisecondsMax
    guard (-limit...limit).contains(advanceMilliseconds) else {
      throw ProblemDetails.unfit("advance_ms is at most a century")
    }
    return advanceMilliseconds
  }
}
