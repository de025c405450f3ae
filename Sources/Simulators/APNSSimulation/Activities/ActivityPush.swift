internal import FoundationEssentials
internal import SimulationControl

package enum ActivityEvent: String, Codable, Sendable {
  case start
  /// Replaces its state.
  case update
  case end
}

/// The `aps` member of a Live Activity push as a device reads it. A malformed member counts as missing.
struct ActivityPush: Equatable, Sendable {
  struct Origin: Equatable, Sendable {
    /// The number in the push log.
    let push: Int
    /// The machine's time of its arrival, in microseconds since 1970.
    let receivedMicroseconds: Int64
    /// The simulated time.
    let at: WallInstant
    let priority: Int
  }

  var event: ActivityEvent?
  /// Unix seconds, as are the other dates.
  var timestamp: Int64?
  var state: ActivityJSON?
  var attributesType: String?
  var attributes: ActivityJSON?
  var alert: ActivityAlert?
  var staleDate: Int64?
  var dismissalDate: Int64?
  var relevanceScore: Double?
  /// `input-push-token` is 1.
  var asksForToken = false
}

struct ActivityAlert: Equatable, Sendable {
  let content: ActivityJSON
  /// Whether its title is a text or has a `loc-key`. Without a title it is not shown.
  let hasTitle: Bool
}

extension ActivityPush {
  /// - Returns: nil when the body has no `aps` object.
  init?(body: [UInt8]) {
    guard let payload = try? JSONDecoder().decode(Payload.self, from: Data(body)) else { return nil }
    self = payload.push
  }

  /// The year 5138: no date of a script is later, and sums with it stay far from overflow.
  private static let latestSeconds = 1e11

  fileprivate static func seconds(_ number: Double?) -> Int64? {
    guard let number, (0...latestSeconds).contains(number) else { return nil }
    return Int64(number)
  }
}

private struct Payload: Decodable {
  let push: ActivityPush

  private enum CodingKeys: String, CodingKey {
    case aps
  }

  private enum Members: String, CodingKey {
    case timestamp, event, attributes, alert
    case state = "content-state"
    case attributesType = "attributes-type"
    case staleDate = "stale-date"
    case dismissalDate = "dismissal-date"
    case relevanceScore = "relevance-score"
    case inputToken = "input-push-token"
  }

  init(from decoder: any Decoder) throws {
    let aps = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(keyedBy: Members.self, forKey: .aps)
    var push = ActivityPush()
    push.event = try? aps.decode(ActivityEvent.self, forKey: .event)
    push.timestamp = ActivityPush.seconds(try? aps.decode(Double.self, forKey: .timestamp))
    push.state = Self.object(aps, .state)
    push.attributesType = try? aps.decode(String.self, forKey: .attributesType)
    push.attributes = Self.object(aps, .attributes)
    push.alert = (try? aps.decode(ActivityAlert.self, forKey: .alert)).flatMap { $0.content.isNull ? nil : $0 }
    push.staleDate = ActivityPush.seconds(try? aps.decode(Double.self, forKey: .staleDate))
    push.dismissalDate = ActivityPush.seconds(try? aps.decode(Double.self, forKey: .dismissalDate))
    push.relevanceScore = try? aps.decode(Double.self, forKey: .relevanceScore)
    push.asksForToken = (try? aps.decode(Int.self, forKey: .inputToken)) == 1
    self.push = push
  }

  private static func object(_ aps: KeyedDecodingContainer<Members>, _ name: Members) -> ActivityJSON? {
    (try? aps.decode(ActivityJSON.self, forKey: name)).flatMap { $0.isObject ? $0 : nil }
  }
}

extension ActivityAlert: Decodable {
  private enum Members: String, CodingKey {
    case title
  }

  private enum TitleMembers: String, CodingKey {
    case key = "loc-key"
  }

  init(from decoder: any Decoder) throws {
    content = try ActivityJSON(from: decoder)
    let alert = try? decoder.container(keyedBy: Members.self)
    let text = try? alert?.decode(String.self, forKey: .title)
    let localized = try? alert?.nestedContainer(keyedBy: TitleMembers.self, forKey: .title)
    let key = try? localized?.decode(String.self, forKey: .key)
    hasTitle = (text ?? key).map { !$0.isEmpty } ?? false
  }
}
