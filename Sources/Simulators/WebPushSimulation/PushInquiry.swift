internal import HTTP1
internal import HTTPTypes

/// The parts of a request that a push service judges, as they came.
struct PushInquiry: Sendable {
  let timeToLive: String?
  let urgency: String?
  let topic: String?
  let contentEncoding: String?
  let authorization: String?
  /// Whether a field of an older encoding is there: `Crypto-Key` or `Encryption`.
  let hasOlderFields: Bool
  let body: [UInt8]

  init(_ head: RequestHead, body: [UInt8]) {
    timeToLive = head[.timeToLive]
    urgency = head[.urgency]
    topic = head[.topic]
    contentEncoding = head[.contentEncoding]
    authorization = head[.authorization]
    hasOlderFields = head[.cryptoKey] != nil || head[.encryption] != nil
    self.body = body
  }
}

/// What a request asks for, once it is judged.
struct JudgedPush: Sendable {
  var timeToLive: Int64 = 0
  var urgency = "normal"
  var topic: String?
  var statement: VAPIDStatement?
}

extension PushInquiry {
  private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

  /// Judges the request in the order of cost: the subscription, the size, the sender, the fields.
  /// - Parameters:
  ///   - origin: of the endpoint.
  ///   - now: Unix seconds.
  func judge(for subscription: SimulatedSubscription, origin: String, now: Double) throws(PushRefusal) -> JudgedPush {
    switch subscription.state {
    case .active: break
    case .expired: throw .expired
    case .gone: throw .gone
    }
    guard body.count <= subscription.face.bodyBytesMax else { throw .bodyTooLarge }
    var push = JudgedPush()
    push.statement = try statement(for: subscription, origin: origin, now: now)
    push.timeToLive = try judgedTimeToLive(subscription.face)
    push.urgency = try judgedUrgency()
    push.topic = try judgedTopic(subscription.face)
    try judgeEncoding()
    return push
  }

  private func statement(
    for subscription: SimulatedSubscription, origin: String, now: Double
  ) throws(PushRefusal) -> VAPIDStatement? {
    guard let authorization else {
      guard subscription.serverKey == nil else { throw .authorizationMissing }
      return nil
    }
    let statement = try VAPIDStatement(authorization)
    try statement.check(subscription.face, origin: origin, now: now)
    if let key = subscription.serverKey, key != statement.keyText { throw .keyMismatch }
    return statement
  }

  private func judgedTimeToLive(_ face: PushServiceFace) throws(PushRefusal) -> Int64 {
    guard let timeToLive else { throw .timeToLiveMissing }
    guard !timeToLive.isEmpty, timeToLive.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .timeToLiveMalformed
    }
    let seconds = Int64(timeToLive) ?? .max
    guard seconds > 0 || face.acceptsTimeToLiveZero else { throw .timeToLiveMalformed }
    return min(seconds, face.timeToLiveMax)
  }

  private func judgedUrgency() throws(PushRefusal) -> String {
    guard let urgency else { return "normal" }
    guard Self.urgencies.contains(urgency) else { throw .urgencyUnknown }
    return urgency
  }

  private func judgedTopic(_ face: PushServiceFace) throws(PushRefusal) -> String? {
    guard let topic else { return nil }
    let isBase64URL = topic.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard (1...32).contains(topic.utf8.count), isBase64URL, face.acceptsTopic(ofLength: topic.utf8.count) else {
      throw .topicMalformed
    }
    return topic
  }

  /// An empty push has no encoding.
  private func judgeEncoding() throws(PushRefusal) {
    guard !body.isEmpty else { return }
    guard contentEncoding == "aes128gcm", !hasOlderFields else { throw .encodingNotSupported }
  }
}

extension HTTPField.Name {
  static let timeToLive = Self("TTL")!
  static let urgency = Self("Urgency")!
  static let topic = Self("Topic")!
  static let cryptoKey = Self("Crypto-Key")!
  static let encryption = Self("Encryption")!
}
