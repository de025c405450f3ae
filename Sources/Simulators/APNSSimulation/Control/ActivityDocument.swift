internal import SimulationControl

/// A new update token of an activity.
struct RenewalDocument: ControlDocument {
  /// Nil for a random one.
  var token: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token
  }
}

/// A Live Activity in responses: what its device shows.
struct ActivityDocument: Encodable {
  let activity: String
  let device: String
  let environment: SimulatedEnvironment
  let bundle: String
  let attributesType: String
  let attributes: ActivityJSON?
  let token: String?
  let state: ActivityJSON?
  let startedMilliseconds: Int64
  let isStale: Bool
  let isEnded: Bool
  let isDismissed: Bool
  let endedMilliseconds: Int64?
  let dismissedMilliseconds: Int64?
  let lastTimestamp: Int64?
  let staleDate: Int64?
  let relevanceScore: Double?
  let alerts: Int
  let lastAlert: ActivityJSON?
  let appliedCount: Int
  let applied: [AppliedPush]
  let dropped: [String: Int]

  private enum CodingKeys: String, CodingKey {
    case activity, device, environment, attributes, token, state, alerts, applied, dropped
    case bundle = "bundle_id"
    case attributesType = "attributes_type"
    case startedMilliseconds = "started_ms"
    case isStale = "stale"
    case isEnded = "ended"
    case isDismissed = "dismissed"
    case endedMilliseconds = "ended_ms"
    case dismissedMilliseconds = "dismissed_ms"
    case lastTimestamp = "last_timestamp"
    case staleDate = "stale_date"
    case relevanceScore = "relevance_score"
    case lastAlert = "last_alert"
    case appliedCount = "applied_count"
  }

  /// - Parameter history: the most pushes listed; the newest are.
  init(_ shown: SimulatedActivity, at now: WallInstant, history: Int) {
    activity = shown.identifier
    device = shown.device
    environment = shown.owner.environment
    bundle = shown.owner.bundle
    attributesType = shown.attributesType
    attributes = shown.attributes
    token = shown.token
    state = shown.state
    startedMilliseconds = shown.startedAt.milliseconds
    isStale = shown.isStale(at: now)
    isEnded = shown.endedAt(now) != nil
    isDismissed = shown.isDismissed(at: now)
    endedMilliseconds = shown.endedAt(now)?.milliseconds
    dismissedMilliseconds = shown.dismissedAt(now)?.milliseconds
    lastTimestamp = shown.lastTimestamp
    staleDate = shown.staleDate
    relevanceScore = shown.relevanceScore
    alerts = shown.alerts
    lastAlert = shown.lastAlert
    appliedCount = shown.history.count
    applied = shown.history.entries.suffix(history)
    dropped = shown.dropped.byWord
  }
}

extension [ActivityDrop: Int] {
  /// With the words of the control endpoint.
  var byWord: [String: Int] {
    Dictionary<String, Int>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
  }
}
