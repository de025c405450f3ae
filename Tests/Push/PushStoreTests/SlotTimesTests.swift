import TestPostgres
import Testing

@Suite("When slots are due")
struct SlotTimesTests {
  /// Slots over both changes of the clock: the moment after which, and the instant.
  @Test(
    "a skipped time is due after the change, a repeated one at its first occurrence",
    arguments: [
      ("0800", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 06:00+00", "2026-03-29"),
      ("1200", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 10:00+00", "2026-03-29"),
      ("1800", "Europe/Vienna", "2026-03-28 18:00+00", "2026-03-29 16:00+00", "2026-03-29"),
      ("0230", "Europe/Vienna", "2026-03-28 12:00+00", "2026-03-29 01:30+00", "2026-03-29"),
      ("0800", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 07:00+00", "2026-10-25"),
      ("1200", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 11:00+00", "2026-10-25"),
      ("1800", "Europe/Vienna", "2026-10-24 18:00+00", "2026-10-25 17:00+00", "2026-10-25"),
      ("0230", "Europe/Vienna", "2026-10-24 12:00+00", "2026-10-25 00:30+00", "2026-10-25"),
      // Between the two occurrences, and a microsecond before the first.
      ("0230", "Europe/Vienna", "2026-10-25 00:45+00", "2026-10-26 01:30+00", "2026-10-26"),
      ("0230", "Europe/Vienna", "2026-10-25 00:29:59.999999+00", "2026-10-25 00:30+00", "2026-10-25"),
      ("0230", "Europe/Vienna", "2026-10-25 00:30+00", "2026-10-26 01:30+00", "2026-10-26"),
      // A day that Samoa did not have.
      ("0800", "Pacific/Apia", "2011-12-29 18:00+00", "2011-12-30 18:00+00", "2011-12-31"),
      // The flight: Vienna, New York, Tokyo.
      ("0800", "Europe/Vienna", "2026-11-24 06:00+00", "2026-11-24 07:00+00", "2026-11-24"),
      ("0800", "America/New_York", "2026-11-24 07:00+00", "2026-11-24 13:00+00", "2026-11-24"),
      ("1800", "Asia/Tokyo", "2026-11-24 13:00+00", "2026-11-25 09:00+00", "2026-11-25"),
    ])
  func clocks(slot: String, zone: String, after: String, fireAt: String, day: String) async throws {
    let database = try await TestDatabase.migrated()
    let next = try await database.sql(
      "select fire_at at time zone 'UTC', fire_date from tacet.next_fire('\(slot)', '\(zone)', '\(after)')")
    #expect(next == "\(fireAt.prefix(16)):00|\(day)")
  }

  @Test("days that are not wanted are left out, and without any nothing is due")
  func weekdays() async throws {
    let database = try await TestDatabase.migrated()
    for (weekdays, day) in [("{1}", "2026-11-30"), ("{2}", "2026-11-24"), ("{7}", "2026-11-29"), ("{}", "")] {
      let next = "select fire_date from tacet.next_fire('0800', 'UTC', '2026-11-23 08:00+00', '\(weekdays)')"
      #expect(try await database.sql(next) == day, "\(weekdays)")
    }
  }

  @Test("a slot is four digits of a day's time", arguments: ["2400", "0860", "800", "08:00", "", "0800 ", "-100"])
  func malformed(slot: String) async throws {
    let database = try await TestDatabase.migrated()
    await #expect(throws: (any Error).self) {
      try await database.sql(
        """
        insert into tacet.slots (user_id, campaign, slot, time_zone)
        values (tacet.lowest_user_id(), 'ritual', '\(slot)', 'UTC')
        """)
    }
  }
}
