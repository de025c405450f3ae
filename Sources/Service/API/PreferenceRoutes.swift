internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore
internal import Reactors

/// `GET` and `PUT /v1/preferences`: what a user wants of pushes, as one document.
enum PreferenceRoutes {
  static func add(to group: inout RouteGroup) {
    group.addForClients(.get, "/v1/preferences", load: .documentRead) { user, _, services, reactor in
      try await answer(user, services.callers, on: reactor)
    }
    group.addForClients(
      .put, "/v1/preferences", hasContent: true, bodyBytesMax: PreferenceDocument.bytesMax, load: .documentWrite
    ) { user, request, services, reactor in
      let store = services.callers
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
    HTTPServerResponse(PreferenceDocument(preferences: try await store.preferences(of: user, on: reactor)).json)
  }
}

/// A user's preferences as JSON. What a document leaves out has its default.
struct PreferenceDocument {
  /// The most kinds that can be opted out of; more than anybody configures.
  private static let kindsMax = 64
  /// The most conversations of which something else is wanted; with a hundred bytes each they fit the body's bound.
  private static let conversationsMax = 1000
  /// A thousand conversations of three members each, and what else is in it.
  static let limits = JSONLimits(depthMax: 16, elementsMax: 8000)
  /// The most bytes of a document: the most conversations with 200 bytes each, and as much again for white space.
  static let bytesMax = 512 * 1024
  /// How long a push may be unread, in seconds: from the time in which a phone is taken out of a pocket to a week.
  private static let unreadSeconds = 10...604_800
  private static let kindBytesMax = 64

  let preferences: UserPreferences

  /// Its members in the order of their names.
  var json: PayloadObject {
    var unread = PayloadObject()
    for (kind, seconds) in preferences.unreadAfter.sorted(by: { $0.key < $1.key }) { unread[kind] = .count(seconds) }
    return [
      "content": .text(preferences.content?.rawValue), "conversations": .list(preferences.conversations.map(\.json)),
      "disabled_kinds": .array(preferences.disabledKinds.map { .string($0) }),
      "quiet_hours": preferences.quietHours.map { .object($0.json) } ?? .null, "unread_after": .object(unread),
    ]
  }
}

extension PreferenceDocument: Decodable {
  init(from decoder: any Decoder) throws {
    let body = try decoder.members("quiet_hours", "content", "disabled_kinds", "conversations", "unread_after")
    preferences = UserPreferences(
      quietHours: try body.decodeIfPresent(UserPreferences.QuietHours.self, forKey: "quiet_hours"),
      content: try body.decodeContent().flatMap(ContentChoice.init), disabledKinds: try Self.kinds(in: body),
      conversations: try Self.conversations(in: body), unreadAfter: try Self.unreadAfter(in: body))
  }

  private static let kindsDemand = "must name kinds: 1 to \(kindBytesMax) letters, digits, _, - and ."

  private static func kinds(in body: Members) throws -> [String] {
    try body.requireFew("disabled_kinds", kindsMax, "elements")
    let kinds = try body.decodeIfPresent([String].self, forKey: "disabled_kinds") ?? []
    try body.require(Set(kinds).count == kinds.count, "disabled_kinds", "must not name a kind twice")
    try body.require(kinds.allSatisfy(isKind), "disabled_kinds", kindsDemand)
    return kinds
  }

  private static func unreadAfter(in body: Members) throws -> [String: Int] {
    try body.requireFew("unread_after", kindsMax, "members")
    let wishes = try body.decodeIfPresent([String: Int].self, forKey: "unread_after") ?? [:]
    try body.require(wishes.keys.allSatisfy(isKind), "unread_after", kindsDemand)
    try body.require(
      wishes.values.allSatisfy { $0 == 0 || unreadSeconds.contains($0) }, "unread_after",
      "must have seconds: 0 for never, or from \(unreadSeconds.lowerBound) to \(unreadSeconds.upperBound)")
    return wishes
  }

  private static func isKind(_ text: String) -> Bool {
    (1...kindBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        let character = Character(UnicodeScalar(byte))
        return byte < 0x80 && (character.isLetter || character.isNumber || "_-.".contains(character))
      }
  }

  private static func conversations(in body: Members) throws -> [UserPreferences.Conversation] {
    try body.requireFew("conversations", conversationsMax, "elements")
    let conversations = try body.decodeIfPresent([UserPreferences.Conversation].self, forKey: "conversations") ?? []
    guard Set(conversations.map(\.id)).count == conversations.count else {
      throw ProblemDetails.unprocessable("conversations", "conversations must not name a conversation twice.")
    }
    return conversations
  }
}

extension UserPreferences.QuietHours: Decodable {
  /// `policy` is `hold` unless it says otherwise.
  package init(from decoder: any Decoder) throws {
    let body = try decoder.members("start", "end", "policy", "time_zone")
    let start = try Self.minutes("start", in: body)
    let end = try Self.minutes("end", in: body)
    guard start != end else {
      throw ProblemDetails.unprocessable("quiet_hours.end", "quiet_hours.end must differ from start.")
    }
    let zone = try body.decodeText("time_zone", "must be the name of a time zone", TimeZoneName.isWellFormed)
    let policy = try body.decodeText("policy", "must be hold or drop") { QuietHoursPolicy(rawValue: $0) != nil }
    self.init(start: start, end: end, timeZone: zone, policy: policy.flatMap(QuietHoursPolicy.init) ?? .hold)
  }

  private static func minutes(_ key: MemberName, in body: Members) throws -> Int {
    let minutes = TimeText.minutes(ofDay: try body.decode(String.self, forKey: key))
    try body.require(minutes != nil, key, "must be a time from 00:00 to 23:59")
    return minutes ?? 0
  }

  fileprivate var json: PayloadObject {
    [
      "end": .string(TimeText.timeOfDay(minutes: end)), "policy": .string(policy.rawValue),
      "start": .string(TimeText.timeOfDay(minutes: start)), "time_zone": timeZone.map { .string($0) } ?? .null,
    ]
  }
}

extension UserPreferences.Conversation: Decodable {
  package init(from decoder: any Decoder) throws {
    let body = try decoder.members("conversation_id", "muted", "muted_until", "mentions_only")
    let until = try body.decodeText("muted_until", "must be a time such as 2026-01-31T20:15:00Z, in this millennium") {
      InstantText.microseconds(of: $0) != nil
    }
    self.init(
      id: try body.decodeID(\.conversations, forKey: "conversation_id"),
      isMuted: try body.decodeIfPresent(Bool.self, forKey: "muted") ?? false,
      mutedUntil: until.flatMap(InstantText.microseconds),
      mentionsOnly: try body.decodeIfPresent(Bool.self, forKey: "mentions_only") ?? false)
  }

  fileprivate var json: PayloadObject {
    [
      "conversation_id": .string(id.text), "mentions_only": .boolean(mentionsOnly), "muted": .boolean(isMuted),
      "muted_until": mutedUntil.map { .string(TimeText.instant($0)) } ?? .null,
    ]
  }
}
