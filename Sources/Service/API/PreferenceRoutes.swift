internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore
internal import Reactors

/// `GET` and `PUT /v1/preferences`: what a user wants of pushes, as one document.
enum PreferenceRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/preferences", load: .documentRead) { user, _, reactor in
      try await answer(user, services.value(on: reactor).callers, on: reactor)
    }
    group.addForClients(
      .put, "/v1/preferences", hasContent: true, bodyBytesMax: PreferenceDocument.bytesMax, load: .documentWrite
    ) { user, request, reactor in
      let store = services.value(on: reactor).callers
      let document = try RequestContent.decode(
        PreferenceDocument.self, from: request.body, idTypes: store.idTypes, limits: PreferenceDocument.limits)
      guard try await store.put(document.preferences, of: user, on: reactor) else {
        throw ProblemDetails.unprocessable(
          "quiet_hours.time_zone", "quiet_hours.time_zone is not the name of a known time zone.")
      }
      return try await answer(user, store, on: reactor)
    }
  }

  private static func answer(
    _ user: HostID, _ store: PushDatabase, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    HTTPServerResponse(json: PreferenceDocument(try await store.preferences(of: user, on: reactor)).json)
  }
}

/// A user's preferences as JSON. What a document leaves out has its default.
struct PreferenceDocument: JSONAnswer, Decodable {
  /// The most kinds that can be opted out of; more than anybody configures.
  static let kindsMax = 64
  /// The most conversations of which something else is wanted; with a hundred bytes each they fit the body's bound.
  static let conversationsMax = 1000
  /// A thousand conversations of three members each, and what else is in it.
  static let limits = JSONLimits(depthMax: 16, elementsMax: 8000)

  /// The most bytes of a document: the most conversations with 200 bytes each, and as much again for white space.
  static let bytesMax = 512 * 1024
  /// How long a push may be unread, in seconds: from the time in which a phone is taken out of a pocket to a week.
  static let unreadSeconds = 10...604_800
  static let kindBytesMax = 64

  let preferences: UserPreferences

  init(_ preferences: UserPreferences) {
    self.preferences = preferences
  }

  private enum Key: String, CodingKey, CaseIterable {
    case conversations, content
    case quietHours = "quiet_hours"
    case disabledKinds = "disabled_kinds"
    case unreadAfter = "unread_after"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    preferences = UserPreferences(
      quietHours: try body.decodeIfPresent(QuietHoursDocument.self, forKey: .quietHours)?.quietHours,
      content: try body.decodeContent(.content).flatMap(ContentChoice.init),
      disabledKinds: try Self.kinds(in: body),
      conversations: try Self.conversations(in: body), unreadAfter: try Self.unreadAfter(in: body))
  }

  private static func kinds(in body: KeyedDecodingContainer<Key>) throws -> [String] {
    try body.requireFew(.disabledKinds, kindsMax, "elements")
    let kinds = try body.decodeIfPresent([String].self, forKey: .disabledKinds) ?? []
    try body.require(Set(kinds).count == kinds.count, .disabledKinds, "must not name a kind twice")
    try body.require(
      kinds.allSatisfy(isKind), .disabledKinds, "must name kinds: 1 to \(kindBytesMax) letters, digits, _, - and .")
    return kinds
  }

  private static func unreadAfter(in body: KeyedDecodingContainer<Key>) throws -> [String: Int] {
    try body.requireFew(.unreadAfter, kindsMax, "members")
    let wishes = try body.decodeIfPresent([String: Int].self, forKey: .unreadAfter) ?? [:]
    try body.require(
      wishes.keys.allSatisfy(isKind), .unreadAfter, "must name kinds: 1 to \(kindBytesMax) letters, digits, _, - and .")
    try body.require(
      wishes.values.allSatisfy { $0 == 0 || unreadSeconds.contains($0) }, .unreadAfter,
      "must have seconds: 0 for never, or from \(unreadSeconds.lowerBound) to \(unreadSeconds.upperBound)")
    return wishes
  }

  private static func isKind(_ text: String) -> Bool {
    (1...kindBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
      }
  }

  private static func conversations(
    in body: KeyedDecodingContainer<Key>
  ) throws -> [UserPreferences.Conversation] {
    try body.requireFew(.conversations, conversationsMax, "elements")
    let documents = try body.decodeIfPresent([ConversationDocument].self, forKey: .conversations) ?? []
    let conversations = documents.map(\.conversation)
    guard Set(conversations.map(\.id)).count == conversations.count else {
      throw ProblemDetails.unprocessable("conversations", "conversations must not name a conversation twice.")
    }
    return conversations
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(preferences.quietHours.map(QuietHoursDocument.init), forKey: .quietHours)
    try body.encodeIfPresent(preferences.content?.rawValue, forKey: .content)
    try body.encode(preferences.disabledKinds, forKey: .disabledKinds)
    try body.encode(preferences.conversations.map(ConversationDocument.init), forKey: .conversations)
    try body.encode(preferences.unreadAfter, forKey: .unreadAfter)
  }
}

/// Quiet hours as JSON; `policy` is `hold` unless it says otherwise.
private struct QuietHoursDocument: Codable {
  let quietHours: UserPreferences.QuietHours

  init(_ quietHours: UserPreferences.QuietHours) {
    self.quietHours = quietHours
  }

  private enum Key: String, CodingKey, CaseIterable {
    case start, end, policy
    case timeZone = "time_zone"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let start = try Self.minutes(.start, in: body)
    let end = try Self.minutes(.end, in: body)
    guard start != end else {
      throw ProblemDetails.unprocessable("quiet_hours.end", "quiet_hours.end must differ from start.")
    }
    let zone = try body.decodeText(.timeZone, "must be the name of a time zone", TimeZoneName.isWellFormed)
    let policy = try body.decodeText(.policy, "must be hold or drop") { QuietHoursPolicy(rawValue: $0) != nil }
    quietHours = UserPreferences.QuietHours(
      start: start, end: end, timeZone: zone, policy: policy.flatMap(QuietHoursPolicy.init) ?? .hold)
  }

  private static func minutes(_ key: Key, in body: KeyedDecodingContainer<Key>) throws -> Int {
    let minutes = TimeText.minutes(ofDay: try body.decode(String.self, forKey: key))
    try body.require(minutes != nil, key, "must be a time from 00:00 to 23:59")
    return minutes ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(TimeText.timeOfDay(minutes: quietHours.start), forKey: .start)
    try body.encode(TimeText.timeOfDay(minutes: quietHours.end), forKey: .end)
    try body.encode(quietHours.timeZone, forKey: .timeZone)
    try body.encode(quietHours.policy.rawValue, forKey: .policy)
  }
}

private struct ConversationDocument: Codable {
  let conversation: UserPreferences.Conversation

  init(_ conversation: UserPreferences.Conversation) {
    self.conversation = conversation
  }

  private enum Key: String, CodingKey, CaseIterable {
    case muted
    case id = "conversation_id"
    case mutedUntil = "muted_until"
    case mentionsOnly = "mentions_only"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let until = try body.decodeIfPresent(String.self, forKey: .mutedUntil)
    let instant = until.flatMap(InstantText.microseconds)
    try body.require(
      until == nil || instant != nil, .mutedUntil, "must be a time such as 2026-01-31T20:15:00Z, in this millennium")
    conversation = UserPreferences.Conversation(
      id: try body.decodeID(\.conversations, forKey: .id),
      isMuted: try body.decodeIfPresent(Bool.self, forKey: .muted) ?? false,
      mutedUntil: instant,
      mentionsOnly: try body.decodeIfPresent(Bool.self, forKey: .mentionsOnly) ?? false)
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(conversation.id.text, forKey: .id)
    try body.encode(conversation.isMuted, forKey: .muted)
    try body.encode(conversation.mutedUntil.map(TimeText.instant), forKey: .mutedUntil)
    try body.encode(conversation.mentionsOnly, forKey: .mentionsOnly)
  }
}
