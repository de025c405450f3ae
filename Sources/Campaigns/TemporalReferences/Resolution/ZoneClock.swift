internal import FoundationEssentials

/// Civil time in one zone.
struct ZoneClock {
  let zone: ZoneRules

  /// More than the largest offset in the time zone database: Manila's 15 h 56 min until 1844.
  private static let offsetSecondsMax = 16.0 * 3600

  /// The instant of a local time. Minutes beyond the day continue into the next.
  ///
  /// RFC 5545, 3.3.5: a time in a gap uses the offset before the change; of an ambiguous time the first instant counts.
  func instant(_ day: CivilDay, minutes: Int = 0) -> Date {
    let local = Double(day.number) * 86_400 + Double(minutes) * 60
    let before = offset(at: local - Self.offsetSecondsMax)
    if offset(at: local - before) == before { return Date(timeIntervalSince1970: local - before) }
    let after = offset(at: local + Self.offsetSecondsMax)
    if offset(at: local - after) == after { return Date(timeIntervalSince1970: local - after) }
    return Date(timeIntervalSince1970: local - before)
  }

  /// The local time of an instant, in whole minutes.
  func civilTime(at instant: Date) -> (day: CivilDay, minutes: Int) {
    let utc = instant.timeIntervalSince1970
    let minutes = Int(((utc + offset(at: utc)) / 60).rounded(.down))
    return (CivilDay(number: minutes.quotient(1440)), minutes.modulo(1440))
  }

  /// Seconds east of UTC.
  private func offset(at seconds: Double) -> Double {
    Double(zone.offset(at: Int64(seconds.rounded(.down))))
  }
}
