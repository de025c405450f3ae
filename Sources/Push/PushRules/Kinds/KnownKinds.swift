internal import FoundationEssentials

package enum KnownKinds {
  /// All kinds, the most frequent first.
  package static let all: [any PushContent.Type] = [
    MessagePush.self,
    WatchedRowPush.self,
    ServicePush.self,
    CampaignPush.self,
    ReadSyncPush.self,
    LiveActivityPush.self,
  ]

  /// The kinds of events that no host and no server may choose.
  package static let eventKinds = Set(all.compactMap { $0.eventKind })

  package static func content(_ claimed: ClaimedContent, of name: String) -> any PushContent {
    guard let kind = all.first(where: { $0.name == name }), let content = try? kind.init(claimed) else {
      return UnreadablePush(surfaceID: claimed.surfaceID)
    }
    return content
  }

  package static func words(ofEventKind kind: String) -> KindWords {
    all.first { $0.eventKind == kind }?.words ?? KindWords()
  }
}

/// What explanations call an event and its surface.
package struct KindWords: Equatable, Sendable {
  /// The event, without an article.
  package var event = "event"

  /// What its recipients may be looking at, with one.
  package var surface = "what it is about"
}

extension ClaimedContent {
  func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data((document ?? "{}").utf8))
  }
}
