internal import DequeModule

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
