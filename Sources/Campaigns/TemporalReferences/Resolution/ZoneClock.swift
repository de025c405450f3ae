internal import Foundation

/// Civil time in one zone.
struct ZoneClock {
  let zone: TimeZone

  /// No zone of the time zone database has ever been this far from UTC; Manila came closest, 15 h 56 min until 1844.
  private static let offsetSecondsMax = 16.0 * 3600

  /// The instant at which the zone's clocks show a time of a day; minutes beyond the day run on.
  ///
  /// RFC 5545, 3.3.5: a time that clocks skip is read with the offset before the change, one that they show twice is the
  /// first.
  func instant(_ day: CivilDay, minutes: Int = 0) -> Date {
    let local = Double(day.number) * 86_400 + Double(minutes) * 60
    let before = offset(at: local - Self.offsetSecondsMax)
    if offset(at: local - before) == before { return Date(timeIntervalSince1970: local - before) }
    let after = offset(at: local + Self.offsetSecondsMax)
    if offset(at: local - after) == after { return Date(timeIntervalSince1970: local - after) }
    return Date(timeIntervalSince1970: local - before)
  }

  /// What the zone's clocks show at an instant, in whole minutes.
  func civilTime(at instant: Date) -> (day: CivilDay, minutes: Int) {
    let utc = instant.timeIntervalSince1970
    let minutes = Int(((utc + offset(at: utc)) / 60).rounded(.down))
    return (CivilDay(number: minutes.quotient(1440)), minutes.modulo(1440))
  }

  /// Seconds east of UTC.
  private func offset(at seconds: Double) -> Double {
    Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
  }
}
