internal import DequeModule
internal import FoundationEssentials

/// One Live Activity on one device: what the lock screen shows, and how it came about.
///
/// Source of the rules: "Starting and updating Live Activities with ActivityKit push notifications" and "Displaying live
/// data with Live Activities" (Apple).
package struct SimulatedActivity: Sendable {
  package struct Owner: Hashable, Sendable {
    package let environment: SimulatedEnvironment
    package let bundle: String
  }

  package let identifier: String
  package let device: String
  package let owner: Owner
  package let attributesType: String
  /// The static data; nil for an activity that no push started.
  package let attributes: ActivityJSON?
  /// The simulated time of its start.
  package let startedAt: WallInstant

  /// The update token, in lower-case hexadecimal; nil while it has none.
  package internal(set) var token: String?
  /// The whole state; nil before the first push.
  package private(set) var state: ActivityJSON?
  /// The `timestamp` of the last push shown, in Unix seconds.
  package private(set) var lastTimestamp: Int64?
  /// When the state becomes stale, in Unix seconds.
  package private(set) var staleDate: Int64?
  /// The place among several activities; nil without one.
  package private(set) var relevanceScore: Double?
  package private(set) var alerts = 0
  package private(set) var lastAlert: ActivityJSON?
  package private(set) var history = ActivityHistory()
  package private(set) var dropped: [ActivityDrop: Int] = [:]

  private var end: End?
  private var budget = HourlyBudget()

  private struct End {
    let at: WallInstant
    let dismissedAt: WallInstant
  }

  static let runningSecondsMax: Int64 = 8 * 3600
  /// The longest that an ended one stays on the lock screen, in seconds.
  static let lingeringSecondsMax: Int64 = 4 * 3600
  /// How far ahead a `timestamp` may be, in seconds.
  static let aheadSecondsMax: Int64 = 8 * 3600

  init(
    _ identifier: String, on device: String, of owner: Owner, attributesType: String,
    attributes: ActivityJSON? = nil, startedAt: WallInstant
  ) {
    self.identifier = identifier
    self.device = device
    self.owner = owner
    self.attributesType = attributesType
    self.attributes = attributes
    self.startedAt = startedAt
  }
}

extension SimulatedActivity {
  /// When it ended: by a push, or by itself; nil while it runs.
  package func endedAt(_ now: WallInstant) -> WallInstant? {
    if let end { return end.at }
    let latest = startedAt.adding(seconds: Self.runningSecondsMax)
    return now >= latest ? latest : nil
  }

  /// When it leaves, or left, the lock screen; nil while it runs.
  package func dismissedAt(_ now: WallInstant) -> WallInstant? {
    end?.dismissedAt ?? endedAt(now)?.adding(seconds: Self.lingeringSecondsMax)
  }

  package func isDismissed(at now: WallInstant) -> Bool {
    dismissedAt(now).map { now >= $0 } ?? false
  }

  /// Whether a running one has an outdated state.
  package func isStale(at now: WallInstant) -> Bool {
    guard let staleDate, endedAt(now) == nil else { return false }
    return now.seconds >= staleDate
  }
}

extension SimulatedActivity {
  /// Applies an update or an end.
  /// - Parameter hourly: pushes of priority 10 in an hour; nil for any number.
  /// - Returns: why it is not shown; nil when it is.
  mutating func take(_ push: ActivityPush, from origin: ActivityPush.Origin, hourly: Int?) -> ActivityDrop? {
    let drop = drop(of: push, from: origin, hourly: hourly)
    if let drop { dropped[drop, default: 0] += 1 } else { show(push, from: origin) }
    return drop
  }

  private mutating func drop(
    of push: ActivityPush, from origin: ActivityPush.Origin, hourly: Int?
  ) -> ActivityDrop? {
    if endedAt(origin.at) != nil { return .ended }
    if let hourly, origin.priority == 10, !budget.admits(hourly, now: origin.at) { return .throttled }
    guard let event = push.event else { return .noEvent }
    if event == .start { return .wrongToken }
    guard let timestamp = push.timestamp else { return .noTimestamp }
    if timestamp > origin.at.seconds + Self.aheadSecondsMax { return .future }
    if let lastTimestamp, timestamp < lastTimestamp { return .old }
    return event == .update && push.state == nil ? .noState : nil
  }

  /// Shows a push that was found good.
  mutating func show(_ push: ActivityPush, from origin: ActivityPush.Origin) {
    if let state = push.state { self.state = state }
    lastTimestamp = push.timestamp
    staleDate = push.staleDate
    if let score = push.relevanceScore { relevanceScore = score }
    if let alert = push.alert, alert.hasTitle {
      alerts += 1
      lastAlert = alert.content
    }
    if push.event == .end { finish(at: origin.at, dismissal: push.dismissalDate) }
    history.append(AppliedPush(push, from: origin))
  }

  /// Ends it by the user or the app.
  mutating func dismiss(at now: WallInstant) {
    end = End(at: endedAt(now) ?? now, dismissedAt: now)
  }

  private mutating func finish(at now: WallInstant, dismissal: Int64?) {
    let latest = now.adding(seconds: Self.lingeringSecondsMax)
    let wanted = dismissal.map { WallInstant(seconds: $0) } ?? latest
    end = End(at: now, dismissedAt: max(now, min(wanted, latest)))
  }
}

/// Counts pushes of priority 10. An hour begins with its first push.
struct HourlyBudget {
  private static let microseconds: Int64 = 3600 * 1_000_000

  private var since: WallInstant?
  private var used = 0

  mutating func admits(_ most: Int, now: WallInstant) -> Bool {
    if let since, now >= since, now.microseconds - since.microseconds < Self.microseconds {
      guard used < most else { return false }
      used += 1
    } else {
      guard most > 0 else { return false }
      (since, used) = (now, 1)
    }
    return true
  }
}

extension WallInstant {
  func adding(seconds: Int64) -> WallInstant {
    WallInstant(microseconds: microseconds + seconds * 1_000_000)
  }
}

/// A push that an activity showed, in the form of the control endpoint.
package struct AppliedPush: Codable, Equatable, Sendable {
  /// The number in the push log.
  package let push: Int
  /// The machine's time of its arrival, in milliseconds since 1970 with a fraction.
  package let receivedMilliseconds: Double
  /// `timestamp`, in Unix seconds.
  package let timestamp: Int64?
  package let event: ActivityEvent?
  package let priority: Int
  /// `content-state`; nil without one.
  package let state: ActivityJSON?

  private enum CodingKeys: String, CodingKey {
    case push, timestamp, event, priority, state
    case receivedMilliseconds = "received_ms"
  }

  init(_ push: ActivityPush, from origin: ActivityPush.Origin) {
    self.push = origin.push
    receivedMilliseconds = Double(origin.receivedMicroseconds) / 1000
    timestamp = push.timestamp
    event = push.event
    priority = origin.priority
    state = push.state
  }
}

/// The latest pushes that an activity showed, and the number of all.
package struct ActivityHistory: Sendable {
  /// The pushes kept: enough for a workout with an update every half minute.
  static let entriesMax = 100
  /// The size of the kept states, in bytes: 10,000 activities have a gigabyte at most. The newest is kept in any case.
  static let bytesMax = 100_000

  /// The number of pushes shown, including evicted ones.
  package private(set) var count = 0

  private var kept: Deque<AppliedPush> = []
  private var bytes = 0

  init() {}

  /// The latest, oldest first.
  package var entries: [AppliedPush] { Array(kept) }

  mutating func append(_ push: AppliedPush) {
    count += 1
    kept.append(push)
    bytes += Self.size(push)
    while kept.count > Self.entriesMax || (bytes > Self.bytesMax && kept.count > 1) {
      bytes -= Self.size(kept.removeFirst())
    }
  }

  private static func size(_ push: AppliedPush) -> Int { push.state?.text.utf8.count ?? 0 }
}

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

/// The state or the attributes of a Live Activity: a JSON value that only the app understands.
///
/// Kept as text, because a parsed one takes ten times the memory.
package struct ActivityJSON: Codable, Equatable, Sendable {
  /// Compact JSON with the members in alphabetical order, so that equal values are equal texts.
  package let text: String

  var isObject: Bool { text.hasPrefix("{") }

  /// Whether it is `null`, which counts as missing.
  var isNull: Bool { text == "null" }

  package init(from decoder: any Decoder) throws {
    text = String(decoding: try sortedJSON(JSONValue(from: decoder)), as: UTF8.self)
  }

  /// Writes the value itself.
  package func encode(to encoder: any Encoder) throws {
    try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)).encode(to: encoder)
  }
}
