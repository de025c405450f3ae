/// A user's slot, for an explanation. Times are microseconds since 1970.
public struct SlotFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  public var slot: String
  /// Its phase; nil without phases.
  public var phase: String?
  /// Whether the user wants it.
  public var isOn: Bool
  /// When it is due next; nil while it is off.
  public var nextFireAt: Int64?
}

/// A row of `tacet.notif_deliveries`, for an explanation. Times are microseconds since 1970.
public struct SlotRowFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  public var slot: String
  /// Its phase; nil without phases.
  public var phase: String?
  /// The user's day, as `2026-11-22`.
  public var localDay: String
  /// The zone whose day it is.
  public var timeZone: String
  /// When it is due.
  public var fireAt: Int64
  /// When its words were last rendered.
  public var renderedAt: Int64
  /// As the table has it.
  public var status: String
  /// Why it was not pushed.
  public var reason: String?
  /// Its first line; nil when there was nothing to say.
  public var title: String?
  /// Its text.
  public var body: String?
  /// Devices that have reported that they will show it.
  public var armedBy: Int
  /// Claims so far.
  public var attempts: Int
  /// The outcome of its push; nil until it is recorded.
  public var push: CampaignPushFacts?
}
