internal import FoundationEssentials
internal import HTTP1
internal import PushRules
internal import PushStore

/// The ids of Live Activities, which servers and apps choose.
enum LiveActivityID {
  static let bytesMax = 128

  /// Visible characters of ASCII, so that it can be written in paths and logs.
  static func isWellFormed(_ text: String) -> Bool {
    (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// That of a request's path.
  static func read(_ request: HTTPServerRequest) throws(ProblemDetails) -> String {
    let id = request.parameter("id")
    guard isWellFormed(id) else { throw .content("id", "id must be 1 to \(bytesMax) visible characters.") }
    return id
  }
}

struct LiveActivityStartBody: Decodable {
  let request: LiveActivityStartRequest

  private enum Key: String, CodingKey, CaseIterable {
    case id, type, attributes, state, alert
    case userID = "user_id"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let id = try body.decodeText(
      .id, "must be 1 to \(LiveActivityID.bytesMax) visible characters", LiveActivityID.isWellFormed)
    var request = LiveActivityStartRequest(
      id: id ?? UUID().uuidString.lowercased(), userID: try body.decodeID(\.users, forKey: .userID),
      type: try body.decode(String.self, forKey: .type))
    request.attributes = try body.decodeDocument(.attributes)
    request.state = try body.decodeDocument(.state)
    request.alert = try body.decodeDocument(.alert)
    self.request = request
  }
}

struct LiveActivityUpdateBody: Decodable {
  let state: String
  let alert: String?
  let priority: Int?
  let relevance: Double?

  private enum Key: String, CodingKey, CaseIterable {
    case state, alert, priority
    case relevance = "relevance_score"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    state = String(decoding: try body.decode(PayloadObject.self, forKey: .state).encoded(), as: UTF8.self)
    alert = try body.decodeDocument(.alert)
    priority = try body.decodeIfPresent(Int.self, forKey: .priority)
    try body.require(priority.map([5, 10].contains) ?? true, .priority, "must be 5 or 10")
    relevance = try body.decodeIfPresent(Double.self, forKey: .relevance)
    try body.require(relevance.map { abs($0) <= 1e300 } ?? true, .relevance, "must be a smaller number")
  }
}

/// The end; nothing of it is required.
struct LiveActivityEndBody: Decodable {
  let state: String?
  let alert: String?

  private enum Key: String, CodingKey, CaseIterable {
    case state, alert
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    state = try body.decodeDocument(.state)
    alert = try body.decodeDocument(.alert)
  }
}

/// What an app says of a Live Activity that it has started.
struct LiveActivityAnnouncement: Decodable {
  let type: String
  let attributes: String?
  let state: String?

  private enum Key: String, CodingKey, CaseIterable {
    case type, attributes, state
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    type = try body.decode(String.self, forKey: .type)
    attributes = try body.decodeDocument(.attributes)
    state = try body.decodeDocument(.state)
  }
}

struct LiveActivityTokenBody: Decodable {
  /// `deviceToken` is empty where the app has not said it.
  let token: LiveActivityToken

  private enum Key: String, CodingKey, CaseIterable {
    case token, app, environment
    case deviceToken = "device_token"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let text = try body.decode(String.self, forKey: .token)
    try body.require((try? DeviceToken(text)) != nil, .token, DeviceRoutes.tokenDemand)
    let deviceToken = try body.decodeText(.deviceToken, DeviceRoutes.tokenDemand) { (try? DeviceToken($0)) != nil }
    token = LiveActivityToken(
      token: text.lowercased(), deviceToken: deviceToken?.lowercased() ?? "",
      app: try body.decodeApp(.app), environment: try body.decodeEnvironment(.environment))
  }
}

extension KeyedDecodingContainer {
  /// An object as JSON text; nil when it is absent or null.
  func decodeDocument(_ key: Key) throws -> String? {
    try decodeIfPresent(PayloadObject.self, forKey: key).map { String(decoding: $0.encoded(), as: UTF8.self) }
  }
}
