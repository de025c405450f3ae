internal import SimulationControl

/// The members of a payload that the lint rules look at. Decoding it proves that the body is a JSON object.
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

  /// Nil when there is none, or when it is not an object.
  let aps: Aps?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    aps = try? container.decode(Aps.self, forKey: MemberName("aps"))
  }

  /// Everything that Apple documents inside `aps`. Source: "Generating a remote notification" and the pages on Live
  /// Activities and widgets.
  static let knownKeys: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
    "interruption-level", "relevance-score", "filter-criteria", "timestamp", "event", "content-state", "stale-date",
    "dismissal-date", "attributes-type", "attributes", "input-push-token", "input-push-channel", "content-changed",
  ]

  /// What a user can see or hear.
  static let visibleKeys: Set<String> = ["alert", "badge", "sound"]

  /// What only Live Activity pushes have.
  static let liveActivityOnlyKeys: Set<String> = ["event", "content-state", "attributes", "attributes-type"]

  /// What the system needs to act on a Live Activity push.
  static func liveActivityKeys(event: String?) -> [String] {
    switch event {
    case "start": ["timestamp", "event", "content-state", "attributes-type", "attributes", "alert"]
    case "end": ["timestamp", "event"]
    default: ["timestamp", "event", "content-state"]
    }
  }
}
