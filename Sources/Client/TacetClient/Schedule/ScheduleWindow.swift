internal import Foundation

/// What a device knows of its schedule, kept over restarts. It decides; ``ScheduleKeeper`` acts.
struct ScheduleWindow: Sendable, Codable {
  /// The most requests that the system keeps of an app.
  static let pendingMax = 64

  /// The last schedule; nil before the first.
  private(set) var schedule: SlotSchedule?

  /// When the service last confirmed it.
  private var readAt = Date.distantPast

  /// What the system holds, by its identifier.
  var armed: [String: ArmedNotification] = [:]

  /// Whether the missing permission has been reported.
  var isDenied = false

  /// The service's answer; nil confirms the last one.
  mutating func note(_ found: SlotSchedule?, at now: Date) {
    if let found { schedule = found }
    readAt = now
  }

  /// Whether the last schedule still counts. One of the future comes from a clock that was set back, and counts as read now.
  mutating func isFresh(at now: Date, lifetime: Duration) -> Bool {
    readAt = min(readAt, now)
    return schedule != nil && now.timeIntervalSince(readAt) <= Double(lifetime.components.seconds)
  }

  /// What to cancel and what to arm. What was due already is left to the system, which may be late.
  /// - Parameter pending: what the system holds.
  func plan(pending: [String], at now: Date, in zone: TimeZone) -> ArmingPlan {
    let own = Self.own(pending)
    let wanted = soonest(Self.pendingMax - (pending.count - own.count), at: now, in: zone)
    let names = Set(wanted.map(\.identifier))
    let late = own.filter { !names.contains($0) && (armed[$0]?.date ?? .distantFuture) <= now }
    let held = Set(own)
    let unchanged = wanted.filter { held.contains($0.identifier) && armed[$0.identifier] == $0.armed }
    let kept = Set(unchanged.map(\.identifier) + late)
    let cancelled = own.filter { !kept.contains($0) }
    return ArmingPlan(
      kept: kept, cancelled: cancelled, gone: cancelled.filter { !names.contains($0) },
      arm: wanted.filter { !kept.contains($0.identifier) })
  }

  private func soonest(_ room: Int, at now: Date, in zone: TimeZone) -> [LocalNotification] {
    var names: Set<String> = []
    let coming = (schedule?.rows ?? []).filter { names.insert($0.identifier).inserted }
      .compactMap { LocalNotification($0, in: zone) }.filter { $0.date > now }
    return Array(coming.sorted { ($0.date, $0.identifier) < ($1.date, $1.identifier) }.prefix(max(room, 0)))
  }

  /// The requests that this library has made, by the form of their identifiers. It also finds those of an earlier
  /// installation. Each once.
  static func own(_ pending: [String]) -> [String] { pending.filter { SlotIdentifier($0) != nil } }
}

/// What one run does with the system's requests.
struct ArmingPlan: Sendable {
  /// What stays as it is.
  let kept: Set<String>
  /// To cancel: what is gone and what has changed.
  let cancelled: [String]
  /// Of them those that are gone, to be reported.
  let gone: [String]
  /// To arm, the soonest first.
  let arm: [LocalNotification]
}
