import Foundation
import TestRandomness
import Testing

@testable import PushStore

/// Quiet hours of one day in one zone, and the instants between which they must last.
struct QuietCase: Sendable, CustomTestStringConvertible {
  let zone: String
  let change: String
  let hours: String
  /// In UTC.
  let begins: String
  let ends: String

  init(_ zone: String, _ change: String, _ hours: String, _ begins: String, _ ends: String) {
    self.zone = zone
    self.change = change
    self.hours = hours
    self.begins = begins + "Z"
    self.ends = ends + "Z"
  }

  var testDescription: String { "\(zone), \(change): \(hours)" }

  /// Quiet hours as the first arguments of the function.
  var arguments: String {
    "\(hours.split(separator: "-").map { "'\($0)'" }.joined(separator: ", ")), '\(zone)'"
  }

  static let ordinary = [
    QuietCase("Europe/Berlin", "none", "13:00-14:00", "2026-06-01 11:00", "2026-06-01 12:00"),
    QuietCase("Europe/Berlin", "none", "22:00-07:00", "2026-06-01 20:00", "2026-06-02 05:00"),
    QuietCase("Asia/Kolkata", "none", "22:00-00:00", "2026-06-01 16:30", "2026-06-01 18:30"),
    QuietCase("UTC", "none", "00:00-06:00", "2026-06-01 00:00", "2026-06-01 06:00"),
    QuietCase("UTC", "none", "06:01-06:00", "2026-06-01 06:01", "2026-06-02 06:00"),
  ]

  /// Clocks go from 02:00 to 03:00, on Lord Howe Island to 02:30, in Santiago from 00:00 to 01:00.
  static let forward = [
    QuietCase("Europe/Berlin", "forward", "22:00-07:00", "2026-03-28 21:00", "2026-03-29 05:00"),
    QuietCase("Europe/Berlin", "forward", "02:30-05:00", "2026-03-29 01:30", "2026-03-29 03:00"),
    QuietCase("Europe/Berlin", "forward", "23:00-02:30", "2026-03-28 22:00", "2026-03-29 01:30"),
    QuietCase("Europe/Berlin", "forward", "23:00-02:00", "2026-03-28 22:00", "2026-03-29 01:00"),
    QuietCase("Europe/Berlin", "forward", "03:00-05:00", "2026-03-29 01:00", "2026-03-29 03:00"),
    QuietCase("America/New_York", "forward", "22:00-07:00", "2026-03-08 03:00", "2026-03-08 11:00"),
    QuietCase("America/New_York", "forward", "02:30-05:00", "2026-03-08 07:30", "2026-03-08 09:00"),
    QuietCase("America/New_York", "forward", "23:00-02:30", "2026-03-08 04:00", "2026-03-08 07:30"),
    QuietCase("Australia/Lord_Howe", "forward", "22:00-07:00", "2026-10-03 11:30", "2026-10-03 20:00"),
    QuietCase("Australia/Lord_Howe", "forward", "02:15-05:00", "2026-10-03 15:45", "2026-10-03 18:00"),
    QuietCase("Australia/Lord_Howe", "forward", "23:00-02:15", "2026-10-03 12:30", "2026-10-03 15:45"),
    QuietCase("America/Santiago", "forward", "22:00-07:00", "2026-09-06 02:00", "2026-09-06 10:00"),
    QuietCase("America/Santiago", "forward", "00:30-05:00", "2026-09-06 04:30", "2026-09-06 08:00"),
    QuietCase("America/Santiago", "forward", "22:00-00:30", "2026-09-06 02:00", "2026-09-06 04:30"),
    QuietCase("America/Santiago", "forward", "22:00-00:00", "2026-09-06 02:00", "2026-09-06 04:00"),
  ]

  /// Clocks go from 03:00 to 02:00, in New York from 02:00 to 01:00, on Lord Howe Island to 01:30, in Santiago from 24:00 to
  /// 23:00.
  static let back = [
    QuietCase("Europe/Berlin", "back", "22:00-07:00", "2026-10-24 20:00", "2026-10-25 06:00"),
    QuietCase("Europe/Berlin", "back", "02:30-05:00", "2026-10-25 00:30", "2026-10-25 04:00"),
    QuietCase("Europe/Berlin", "back", "23:00-02:30", "2026-10-24 21:00", "2026-10-25 00:30"),
    QuietCase("Europe/Berlin", "back", "02:00-03:00", "2026-10-25 00:00", "2026-10-25 02:00"),
    QuietCase("America/New_York", "back", "22:00-07:00", "2026-11-01 02:00", "2026-11-01 12:00"),
    QuietCase("America/New_York", "back", "01:30-05:00", "2026-11-01 05:30", "2026-11-01 10:00"),
    QuietCase("America/New_York", "back", "23:00-01:30", "2026-11-01 03:00", "2026-11-01 05:30"),
    QuietCase("Australia/Lord_Howe", "back", "22:00-07:00", "2026-04-04 11:00", "2026-04-04 20:30"),
    QuietCase("Australia/Lord_Howe", "back", "01:45-05:00", "2026-04-04 14:45", "2026-04-04 18:30"),
    QuietCase("Australia/Lord_Howe", "back", "23:00-01:45", "2026-04-04 12:00", "2026-04-04 14:45"),
    QuietCase("America/Santiago", "back", "22:00-07:00", "2026-04-05 01:00", "2026-04-05 11:00"),
    QuietCase("America/Santiago", "back", "23:30-05:00", "2026-04-05 02:30", "2026-04-05 09:00"),
    QuietCase("America/Santiago", "back", "20:00-23:30", "2026-04-04 23:00", "2026-04-05 02:30"),
  ]

  /// Samoa had no 30 December 2011: its clocks went from -10:00 to +14:00 at midnight.
  static let dateLine = [
    QuietCase("Pacific/Apia", "date line", "22:00-07:00", "2011-12-30 08:00", "2011-12-30 17:00")
  ]
}

@Suite("Quiet hours")
struct QuietHoursTests {
  @Test(
    "quiet hours begin with their first microsecond and end before their last, whatever the clocks do",
    arguments: QuietCase.ordinary + QuietCase.forward + QuietCase.back + QuietCase.dateLine)
  func edges(_ quiet: QuietCase) async throws {
    let database = try await Self.database.value
    let lengths = try await database.sql(
      """
      select string_agg(
        coalesce(extract(epoch from tacet.quiet_hours_remaining(\(quiet.arguments), m.moment))::text, 'none'), ' '
        order by m.moment)
      from (values
        (timestamptz '\(quiet.begins)' - interval '1 microsecond'), (timestamptz '\(quiet.begins)'),
        (timestamptz '\(quiet.ends)' - interval '1 microsecond'), (timestamptz '\(quiet.ends)')
      ) as m (moment)
      """)
    let length = try await database.sql(
      "select extract(epoch from timestamptz '\(quiet.ends)' - timestamptz '\(quiet.begins)')")
    print(
      "\(quiet.zone) | \(quiet.change) | \(quiet.hours) | \(quiet.begins) | \(quiet.ends) | \(length) s | "
        + "1 us before, at the beginning, 1 us before the end, at the end: \(lengths)")
    #expect(lengths == "none \(length) 0.000001 none")
  }

  @Test("quiet hours that a change of clocks skips as a whole are none that day")
  func skipped() async throws {
    let remaining = """
      select count(tacet.quiet_hours_remaining('02:00', '03:00', 'Europe/Berlin', m))
      from generate_series(timestamptz '2026-03-28 12:00Z', '2026-03-29 12:00Z', '1 minute') m
      """
    #expect(try await Self.database.value.sql(remaining) == "0")
  }

  @Test("in a zone that is none there are no quiet hours")
  func unknownZone() async throws {
    let remaining = "select tacet.quiet_hours_remaining('00:00', '23:59', 'Europe/Nowhere', now()) is null"
    #expect(try await Self.database.value.sql(remaining) == "t")
  }

  /// Clocks change by an hour at the most in these zones, and two hours of each day are not quiet: then no two quiet hours
  /// touch.
  @Test("whoever waits for the end of quiet hours is outside of them then, and waits for less than 25 hours")
  func ends() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let rows = (0..<900).map { _ in
      let zone = Self.zones.randomElement(using: &generator) ?? "UTC"
      let start = Int.random(in: 0..<1440, using: &generator)
      let end = (start + Int.random(in: 1...1320, using: &generator)) % 1440
      let nearChange = Self.changes.randomElement(using: &generator) ?? 0
      let moment =
        Bool.random(using: &generator)
        ? nearChange + Int.random(in: -100_000_000_000...100_000_000_000, using: &generator)
        : Int.random(in: 0...2_000_000_000_000_000, using: &generator)
      return
        "('\(zone)', time '00:00' + \(start) * interval '1 min', time '00:00' + \(end) * interval '1 min', \(moment))"
    }
    let result = try await Self.database.value.sql(
      """
      select
        count(r.remaining) > 200,
        count(*) filter (where r.remaining <= interval '0' or r.remaining >= interval '25 h'),
        count(*) filter (
          where tacet.quiet_hours_remaining(r.quiet_start, r.quiet_end, r.zone, r.moment + r.remaining) is not null)
      from (
        select q.*, tacet.quiet_hours_remaining(q.quiet_start, q.quiet_end, q.zone, q.moment) as remaining
        from (
          select v.zone, v.quiet_start, v.quiet_end, timestamptz 'epoch' + v.us * interval '1 microsecond' as moment
          from (values \(rows.joined(separator: ","))) as v (zone, quiet_start, quiet_end, us)
        ) q
      ) r
      """)
    #expect(result == "t|0|0", "seed \(seed)")
  }

  private static let database = Task { try await TestDatabase.migrated() }

  private static let zones = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut", "Asia/Kathmandu",
    "Africa/Casablanca", "America/St_Johns", "Pacific/Chatham", "Asia/Tehran", "America/Sao_Paulo", "UTC",
  ]

  /// Microseconds since 1970 of changes in 2026: Berlin, New York, Lord Howe Island and Santiago, forward and back.
  private static let changes = [
    1_774_746_000, 1_792_890_000, 1_772_953_200, 1_793_512_800, 1_791_041_400, 1_775_314_800, 1_788_667_200,
    1_775_358_000,
  ].map { $0 * 1_000_000 }
}
