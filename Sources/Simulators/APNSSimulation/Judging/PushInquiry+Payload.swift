internal import FoundationEssentials
internal import SimulationControl

extension PushInquiry {
  /// Empty, too large, not a JSON object, in this order. Sizes are bytes of the body as sent.
  mutating func checkPayload() throws(Refusal) {
    guard request.bodyBytes > 0 else { throw .badRequest("PayloadEmpty") }
    guard request.bodyBytes <= bodyBytesMax else { throw .payloadTooLarge }
    guard let payload = try? JSONDecoder().decode(PayloadOutline.self, from: Data(request.body)) else {
      throw .badRequest("PayloadEmpty")
    }
    lint(payload)
  }

  /// Without a push type the topic's suffix identifies a call.
  private var bodyBytesMax: Int {
    if let type = push.pushType { return type.bodyBytesMax }
    let isCall = push.topic != bundle && push.topic.hasSuffix(SimulatedPushType.voip.topicSuffix)
    return isCall ? SimulatedPushType.voip.bodyBytesMax : SimulatedPushType.alert.bodyBytesMax
  }

  /// Reports mistakes that APNs ignores. Devices then show nothing, or the wrong thing.
  mutating func lint(_ payload: PayloadOutline) {
    guard let aps = payload.aps, push.pushType != .mdm else { return }
    for key in aps.keys.subtracting(PayloadOutline.knownKeys).sorted() { report(.apsUnknownKey, key) }
    if let type = push.pushType, type != .liveactivity { lintStrayKeys(aps) }
    switch push.pushType {
    case .alert: lintAlert(aps)
    case .background: lintBackground(aps)
    case .liveactivity: lintLiveActivity(aps)
    case .widgets where !aps.keys.contains("content-changed"): report(.payloadTypeMismatch, "content-changed")
    default: break
    }
  }

  private mutating func lintStrayKeys(_ aps: PayloadOutline.Aps) {
    for key in aps.keys.intersection(PayloadOutline.liveActivityOnlyKeys).sorted() { report(.payloadTypeMismatch, key) }
  }

  private mutating func lintAlert(_ aps: PayloadOutline.Aps) {
    if aps.keys.isDisjoint(with: PayloadOutline.visibleKeys) { report(.payloadTypeMismatch, "nothing to show") }
  }

  private mutating func lintBackground(_ aps: PayloadOutline.Aps) {
    if !aps.keys.contains("content-available") { report(.payloadTypeMismatch, "content-available") }
    for key in aps.keys.intersection(PayloadOutline.visibleKeys).sorted() { report(.backgroundWithAlert, key) }
  }

  private mutating func lintLiveActivity(_ aps: PayloadOutline.Aps) {
    let required = PayloadOutline.liveActivityKeys(event: aps.event)
    for key in required where !aps.keys.contains(key) { report(.liveActivityMissingKey, key) }
  }
}

/// The members of a payload that the lint rules check. Decoding it proves that the body is a JSON object.
struct PayloadOutline: Decodable {
  struct Aps: Decodable {
    let keys: Set<String>
    let event: String?

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: MemberName.self)
      keys = Set(container.allKeys.map(\.stringValue))
      event = try? container.decode(String.self, forKey: MemberName("event"))
    }
  }

  /// Nil when it is missing or not an object.
  let aps: Aps?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    aps = try? container.decode(Aps.self, forKey: MemberName("aps"))
  }

  /// The documented members of `aps`. Source: "Generating a remote notification" and the pages on Live Activities and
  /// widgets (Apple).
  static let knownKeys: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
    "interruption-level", "relevance-score", "filter-criteria", "timestamp", "event", "content-state", "stale-date",
    "dismissal-date", "attributes-type", "attributes", "input-push-token", "content-changed",
  ]

  static let visibleKeys: Set<String> = ["alert", "badge", "sound"]

  static let liveActivityOnlyKeys: Set<String> = ["event", "content-state", "attributes", "attributes-type"]

  /// Required members of a Live Activity push.
  static func liveActivityKeys(event: String?) -> [String] {
    switch event {
    case "start": ["timestamp", "event", "content-state", "attributes-type", "attributes", "alert"]
    case "end": ["timestamp", "event"]
    default: ["timestamp", "event", "content-state"]
    }
  }
}
