/// A user's slot, for an explanation. Times are microseconds since 1970.
package struct SlotFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  package var slot: String
  /// Its phase; nil without phases.
  package var phase: String?
  package var isOn: Bool
  /// When it is due next; nil while it is off.
  package var nextFireAt: Int64?
}

/// A row of `tacet.notif_deliveries`, for an explanation. Times are microseconds since 1970.
package struct SlotRowFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  package var slot: String
  /// Its phase; nil without phases.
  package var phase: String?
  /// The user's day, as `2026-11-22`.
  package var localDay: String
  package var timeZone: String
  package var fireAt: Int64
  /// When its words were last rendered.
  package var renderedAt: Int64
  package var status: String
  package var reason: String?
  /// Its first line; nil when there was nothing to say.
  package var title: String?
  package var body: String?
  /// Devices that have reported that they will show it.
  package var armedBy: Int
  /// Claims so far.
  package var attempts: Int
  /// The outcome of its push; nil until it is recorded.
  package var push: CampaignPushFacts?
}
