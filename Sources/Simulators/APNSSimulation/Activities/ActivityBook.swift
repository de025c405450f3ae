internal import DequeModule

/// The Live Activities of all devices.
package struct ActivityBook: Sendable {
  /// The most activities. Then the oldest finished ones are forgotten.
  package static let activitiesMax = 10_000
  /// The most that are forgotten at once, because a search for finished ones looks at all.
  private static let forgottenAtOnce = 1000

  private var activities: [String: SimulatedActivity] = [:]
  private var order: Deque<String> = []
  private var identifiers: MintedIdentifiers

  package private(set) var drops = ActivityDropLog()

  init(seed: UInt64) {
    identifiers = MintedIdentifiers(seed: seed)
  }

  package var count: Int { activities.count }

  /// All activities, oldest first.
  package var all: [SimulatedActivity] { order.compactMap { activities[$0] } }

  package subscript(identifier: String) -> SimulatedActivity? { activities[identifier] }

  /// Records a push that reached no activity.
  mutating func drop(_ reason: ActivityDrop, push: Int, device: String? = nil, activity: String? = nil) {
    drops.append(.init(push: push, reason: reason, device: device, activity: activity))
  }
}

extension ActivityBook {
  /// Adds an activity.
  /// - Returns: the update tokens that ended with the forgotten ones; nil when no activity could be added.
  mutating func add(_ activity: SimulatedActivity, at now: WallInstant) -> [String]? {
    let ended = activities.count >= Self.activitiesMax ? forgetFinished(at: now) : []
    guard activities.count < Self.activitiesMax else { return nil }
    if activities.updateValue(activity, forKey: activity.identifier) == nil { order.append(activity.identifier) }
    return ended
  }

  mutating func mintIdentifier() -> String {
    identifiers.next()
  }

  /// Update tokens are longer than device tokens, and Apple promises no length.
  mutating func mintToken() -> String {
    identifiers.bytes(80).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  /// Gives an activity its update token.
  /// - Returns: the one before.
  @discardableResult
  mutating func setToken(_ token: String?, of identifier: String) -> String? {
    defer { activities[identifier]?.token = token }
    return activities[identifier]?.token
  }

  mutating func dismiss(_ identifier: String, at now: WallInstant) {
    activities[identifier]?.dismiss(at: now)
  }

  /// Forgets all activities, and counts drops anew.
  /// - Returns: their update tokens.
  mutating func removeAll() -> [String] {
    let tokens = activities.values.compactMap(\.token)
    activities = [:]
    order = []
    drops = ActivityDropLog()
    return tokens
  }

  private mutating func forgetFinished(at now: WallInstant) -> [String] {
    var tokens: [String] = []
    var left = Self.forgottenAtOnce
    var kept: Deque<String> = []
    for identifier in order {
      guard left > 0, let activity = activities[identifier], activity.endedAt(now) != nil else {
        kept.append(identifier)
        continue
      }
      left -= 1
      activities[identifier] = nil
      if let token = activity.token { tokens.append(token) }
    }
    order = kept
    return tokens
  }
}

extension ActivityBook {
  /// Shows an update or an end on one activity.
  mutating func show(_ push: ActivityPush, from origin: ActivityPush.Origin, on identifier: String, hourly: Int?) {
    guard let device = activities[identifier]?.device else {
      return drop(.ended, push: origin.push, activity: identifier)
    }
    guard let reason = activities[identifier]?.take(push, from: origin, hourly: hourly) else { return }
    drop(reason, push: origin.push, device: device, activity: identifier)
  }
}
