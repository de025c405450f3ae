internal import DequeModule

/// The Live Activities of all devices.
package struct ActivityBook: Sendable {
  /// The most activities. Then the oldest finished ones are forgotten.
  package static let activitiesMax = 10_000
  /// The most that are forgotten at once, because a search for finished ones looks at all.
  private static let forgottenAtOnce = 1000

  private var activities: [String: SimulatedActivity] = [:]
  private var order: Deque<String> = []

  package private(set) var drops = CountedLog<ActivityDrop, DroppedPush>()

  package var count: Int { activities.count }

  /// All activities, oldest first.
  package var all: [SimulatedActivity] { order.compactMap { activities[$0] } }

  package subscript(identifier: String) -> SimulatedActivity? { activities[identifier] }

  /// Records a push that reached no activity.
  mutating func drop(_ reason: ActivityDrop, push: Int, device: String? = nil, activity: String? = nil) {
    drops.append(DroppedPush(push: push, reason: reason, device: device, activity: activity), as: reason)
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
    drops = CountedLog()
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

/// Why a device shows nothing of an accepted Live Activity push.
package enum ActivityDrop: String, CaseIterable, Codable, Sendable {
  /// A `start` that went to anything but a push-to-start token, or another event that went to anything but an update
  /// token.
  case wrongToken = "wrong_token"
  /// No `aps`, or no known `event`.
  case noEvent = "no_event"
  /// No `timestamp`, or one that is no time.
  case noTimestamp = "no_timestamp"
  /// A `timestamp` before that of the last push shown.
  case old
  /// A `timestamp` more than eight hours ahead.
  case future
  /// The activity has ended, or is gone.
  case ended
  /// Neither a `start` nor an `update` without the object `content-state` changes anything.
  case noState = "no_state"
  /// A `start` without the object `attributes`.
  case noAttributes = "no_attributes"
  /// A `start` without `attributes-type`.
  case noAttributesType = "no_attributes_type"
  /// A `start` with another `attributes-type` than that of the push-to-start token.
  case wrongAttributesType = "wrong_attributes_type"
  /// A `start` without an alert.
  case noAlert = "no_alert"
  /// A push of priority 10 beyond the hourly budget of the activity.
  case throttled
  /// A `start` while the simulator has as many running activities as it keeps.
  case tooMany = "too_many"
}

/// A push that was dropped, in the form of the control endpoint.
package struct DroppedPush: Codable, Equatable, Sendable {
  /// The number in the push log.
  package let push: Int
  package let reason: ActivityDrop
  /// The device; nil when the push reached none.
  package let device: String?
  /// The activity; nil when the push belonged to none.
  package let activity: String?
}

/// Live Activity pushes after their acceptance.
extension SimulationBooks {
  /// Shows an accepted push on its devices. What they do not show is recorded with its reason.
  /// - Returns: mistakes that APNs does not answer.
  mutating func show(
    _ request: InspectedRequest, judged verdict: PushVerdict, as origin: ActivityPush.Origin
  ) -> [LintFinding] {
    let push = ActivityPush(body: request.body)
    let findings = push?.alert.map { $0.hasTitle ? [] : [LintFinding(.liveActivityUntitledAlert)] } ?? []
    let device = registry.devices[verdict.push.token.lowercased()]
    guard let push, let event = push.event else {
      activities.drop(.noEvent, push: origin.push, device: device?.name)
      return findings
    }
    switch (device?.kind, event) {
    case (.pushToStart(let type, let allowsUpdates), .start):
      guard let device else { return findings }
      let start = ActivityStart(
        push: push, origin: origin, device: device, token: verdict.push.token.lowercased(), attributesType: type)
      begin(start, allowsUpdates: allowsUpdates ?? conduct.allowsActivityUpdates)
    case (.update(let activity, _), .update), (.update(let activity, _), .end):
      activities.show(push, from: origin, on: activity, hourly: conduct.activityBudget)
    default:
      activities.drop(.wrongToken, push: origin.push, device: device?.name)
      return findings + [LintFinding(.liveActivityWrongToken, event.rawValue)]
    }
    return findings
  }
}

/// A `start` that reached a device.
struct ActivityStart {
  let push: ActivityPush
  let origin: ActivityPush.Origin
  let device: RegisteredDevice
  /// The push-to-start token, in lower case.
  let token: String
  /// That of the push-to-start token.
  let attributesType: String

  var owner: SimulatedActivity.Owner { SimulatedActivity.Owner(environment: device.environment, bundle: device.bundle) }

  var deviceName: String { device.name ?? token }

  /// Why nothing starts; nil when an activity does.
  var drop: ActivityDrop? {
    guard let type = push.attributesType, !type.isEmpty else { return .noAttributesType }
    guard type == attributesType else { return .wrongAttributesType }
    guard let timestamp = push.timestamp else { return .noTimestamp }
    if timestamp > origin.at.seconds + SimulatedActivity.aheadSecondsMax { return .future }
    if push.state == nil { return .noState }
    if push.attributes == nil { return .noAttributes }
    return push.alert == nil ? .noAlert : nil
  }
}

extension SimulationBooks {
  private mutating func begin(_ start: ActivityStart, allowsUpdates: Bool) {
    if let reason = start.drop {
      return activities.drop(reason, push: start.origin.push, device: start.deviceName)
    }
    let identifier = MintedIdentifiers.next()
    var activity = SimulatedActivity(
      identifier, on: start.deviceName, of: start.owner, attributesType: start.attributesType,
      attributes: start.push.attributes, startedAt: start.origin.at)
    activity.show(start.push, from: start.origin)
    guard add(activity, at: start.origin.at) else {
      return activities.drop(.tooMany, push: start.origin.push, device: start.deviceName)
    }
    if start.push.asksForToken, allowsUpdates { _ = renewToken(of: identifier, to: nil, at: start.origin.at) }
  }

  /// Adds an activity.
  /// - Returns: false when there are too many running ones.
  mutating func add(_ activity: SimulatedActivity, at now: WallInstant) -> Bool {
    guard let ended = activities.add(activity, at: now) else { return false }
    for token in ended { expire(token, at: now) }
    return true
  }

  /// Replaces the update token of a running activity, or gives it its first. The old one expires.
  /// - Parameter token: hexadecimal digits; nil for random ones.
  /// - Returns: the new one; nil without such an activity, or with a full registry.
  mutating func renewToken(of identifier: String, to token: String?, at now: WallInstant) -> String? {
    guard let activity = activities[identifier], activity.endedAt(now) == nil else { return nil }
    // Update tokens are longer than device tokens, and Apple promises no length.
    let token = (token ?? MintedIdentifiers.bytes(80).hexadecimal).lowercased()
    let device = RegisteredDevice(
      environment: activity.owner.environment, bundle: activity.owner.bundle, name: activity.device,
      kind: .update(activity: identifier, attributesType: activity.attributesType))
    guard registry.register(device, token: token) else { return nil }
    if let old = activities.setToken(token, of: identifier), old != token { expire(old, at: now) }
    return token
  }

  /// From now on a token is answered 410 `ExpiredToken`.
  mutating func expire(_ token: String, at now: WallInstant) {
    guard var device = registry.devices[token], device.end == nil else { return }
    device.end = .expired(atMilliseconds: now.milliseconds)
    registry.register(device, token: token)
  }
}

/// Live Activities for scripts and tests.
extension SimulatedService {
  package func withActivities<Result: Sendable>(_ body: (ActivityBook) throws -> Result) rethrows -> Result {
    try withBooks { books in try body(books.activities) }
  }

  /// Registers a token of any kind. With an update token of an unknown activity, the app has started that activity. With
  /// another token of a known one, the old token expires.
  /// - Returns: false when there are too many tokens or activities.
  @discardableResult
  package func register(_ device: RegisteredDevice, token: String) -> Bool {
    let now = clock.now
    return withBooks { books in
      guard case .update(let identifier, let type) = device.kind else {
        return books.registry.register(device, token: token)
      }
      if books.activities[identifier] == nil {
        let owner = SimulatedActivity.Owner(environment: device.environment, bundle: device.bundle)
        let activity = SimulatedActivity(
          identifier, on: device.name ?? token.lowercased(), of: owner, attributesType: type, startedAt: now)
        guard books.add(activity, at: now) else { return false }
      }
      guard books.registry.register(device, token: token) else { return false }
      let old = books.activities.setToken(token.lowercased(), of: identifier)
      if let old, old != token.lowercased() { books.expire(old, at: now) }
      return true
    }
  }

  /// Removes a token, which then is unknown. An activity loses its update token.
  /// - Returns: whether it was registered.
  @discardableResult
  package func removeToken(_ token: String) -> Bool {
    withBooks { books in
      let token = token.lowercased()
      if case .update(let activity, _) = books.registry.devices[token]?.kind, books.activities[activity]?.token == token
      {
        books.activities.setToken(nil, of: activity)
      }
      return books.registry.removeDevice(token: token)
    }
  }

  /// Replaces the update token of a running activity, or gives it its first, as if the user had now allowed updates. The
  /// old one expires.
  /// - Parameter token: hexadecimal digits; nil for random ones.
  /// - Returns: the new token; nil when no such activity runs, or with too many tokens.
  package func renewToken(of activity: String, to token: String? = nil) -> String? {
    let now = clock.now
    return withBooks { $0.renewToken(of: activity, to: token, at: now) }
  }

  /// Ends an activity on its device, as the user or the app does. Its update token expires.
  /// - Returns: whether there is such an activity.
  @discardableResult
  package func dismissActivity(_ identifier: String) -> Bool {
    let now = clock.now
    return withBooks { books in
      guard let activity = books.activities[identifier] else { return false }
      books.activities.dismiss(identifier, at: now)
      if let token = activity.token { books.expire(token, at: now) }
      return true
    }
  }

  /// Forgets all activities and the counters of drops. Their update tokens expire.
  package func forgetActivities() {
    let now = clock.now
    withBooks { books in
      for token in books.activities.removeAll() { books.expire(token, at: now) }
    }
  }
}
