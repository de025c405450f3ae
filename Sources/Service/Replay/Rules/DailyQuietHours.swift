public import PushRules
public import TimeZones

/// Quiet hours at the same times of every day in one zone.
///
/// They are reckoned as `tacet.quiet_hours_remaining` does: a time that a clock change skips uses the offset before, and a
/// time that comes twice is the first. An end that is not later than the beginning is on the next day.
public struct DailyQuietHours: Equatable, Sendable {
  /// The first minute of the day, inclusive.
  public let from: Int
  /// The end as a minute of the day, exclusive.
  public let until: Int
  /// The zone's name.
  public let zoneName: String
  /// What happens to pushes in them.
  public let policy: QuietHoursPolicy
  private let zone: ZoneRules

  private static let minute: Int64 = 60
  private static let day: Int64 = 86_400
  /// More than the largest offset of the tz database.
  private static let offsetMax: Int64 = 16 * 3600

  /// Names them.
  public init(from: Int, until: Int, zoneName: String, zone: ZoneRules, policy: QuietHoursPolicy) {
    self.from = from
    self.until = until
    self.zoneName = zoneName
    self.zone = zone
    self.policy = policy
  }

  /// The same times, zone and policy.
  public static func == (one: Self, other: Self) -> Bool {
    (one.from, one.until, one.zoneName, one.policy) == (other.from, other.until, other.zoneName, other.policy)
  }

  /// How long they still last; nil outside of them. In microseconds, the moment since 1970.
  func remaining(at moment: Int64) -> Int64? {
    let seconds = Self.quotient(moment, 1_000_000)
    let today = Self.quotient(seconds + Int64(zone.offset(at: seconds)), Self.day)
    // The days around are examined too: a clock change may move an end.
    let ends = (Int64(-2)...1).compactMap { sinceToday -> Int64? in
      let first = today + sinceToday
      let start = instant(first, from)
      let end = instant(until > from ? first : first + 1, until)
      return start <= seconds && seconds < end ? end : nil
    }
    return ends.max().map { $0 * 1_000_000 - moment }
  }

  /// The second of a local time. RFC 5545, section 3.3.5.
  private func instant(_ day: Int64, _ minute: Int) -> Int64 {
    let local = day * Self.day + Int64(minute) * Self.minute
    let before = Int64(zone.offset(at: local - Self.offsetMax))
    if Int64(zone.offset(at: local - before)) == before { return local - before }
    let after = Int64(zone.offset(at: local + Self.offsetMax))
    return Int64(zone.offset(at: local - after)) == after ? local - after : local - before
  }

  private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
  }
}
