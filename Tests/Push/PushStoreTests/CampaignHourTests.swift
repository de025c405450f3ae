import Foundation
import Testing

@testable import PushStore

@Suite("The hour at which a campaign looks at somebody")
struct CampaignHourTests {
  private static let zones = [
    "Asia/Tokyo", "Europe/Berlin", "America/New_York", "Pacific/Apia", "", "Mars/Olympus_Mons",
  ]

  @Test("is ten by the clock of each user")
  func eachZone() async throws {
    let scene = try await CampaignScene()
    for zone in Self.zones { try await scene.addUser(zone: "'\(zone)'") }
    for (moment, zones) in [
      ("2026-06-15 01:00+00", "Asia/Tokyo"), ("2026-06-15 08:00+00", "Europe/Berlin"),
      ("2026-06-15 14:00+00", "America/New_York"), ("2026-06-14 21:00+00", "Pacific/Apia"),
      // Of those of whom nobody knows where they live.
      ("2026-06-15 10:00+00", "UTC UTC"),
      ("2026-06-15 05:00+00", ""),
    ] {
      #expect(try await noted(scene, at: "'\(moment)'") == zones, "\(moment)")
    }
  }

  @Test("is served from its first microsecond until two hours are over")
  func edges() async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'Europe/Berlin'")
    for (offset, zones) in [
      ("- interval '1 us'", ""), ("", "Europe/Berlin"), ("+ interval '2 hours' - interval '1 us'", "Europe/Berlin"),
      ("+ interval '2 hours'", ""),
    ] {
      #expect(try await noted(scene, at: "timestamptz '2026-06-15 08:00+00' \(offset)") == zones, "\(offset)")
    }
  }

  /// Clocks of New York, the first moment that is served, and whether the day has a moment of that name.
  @Test(
    "a time that the clock leaves out comes as much later; one that comes twice is the first",
    arguments: [("02:30", "2026-03-08 07:30+00"), ("01:30", "2026-11-01 05:30+00")])
  func clockChanges(_ time: String, _ due: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'America/New_York'")
    try await scene.database.sql("update tacet.campaigns set local_time = '\(time)'")
    #expect(try await noted(scene, at: "timestamptz '\(due)' - interval '1 us'") == "")
    #expect(try await noted(scene, at: "timestamptz '\(due)'") == "America/New_York")
    let calls = ["0", "1"].map { "\(enrol("timestamptz '\(due)' + interval '\($0) hour'"));" }
    #expect(try await scene.database.sql("select \(calls[0]) select \(calls[1])") == "1\n0")
  }

  @Test("is only on the campaign's days, by the user's calendar")
  func weekdays() async throws {
    let scene = try await CampaignScene()
    for zone in ["Pacific/Apia", "UTC"] { try await scene.addUser(zone: "'\(zone)'") }
    try await scene.database.sql("update tacet.campaigns set weekdays = '{1,2,3,4,5}'")
    for (moment, zones) in [
      // A Monday in Apia that is Sunday elsewhere, and a Saturday that is Friday.
      ("2026-06-14 21:00+00", "Pacific/Apia"), ("2026-06-19 21:00+00", ""),
      ("2026-06-14 10:00+00", ""), ("2026-06-15 10:00+00", "UTC"), ("2026-06-19 10:00+00", "UTC"),
      ("2026-06-20 10:00+00", ""),
    ] {
      #expect(try await noted(scene, at: "'\(moment)'") == zones, "\(moment)")
    }
  }

  @Test(
    "does not come for a campaign that is not active or waits for requests, nor for one that does not exist",
    arguments: ["is_active = false", "is_scheduled = false", "name = 'another'", "weekdays = '{}'"])
  func notScheduled(_ change: String) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    try await scene.database.sql("update tacet.campaigns set \(change) where name = 'coach'")
    #expect(try await noted(scene, at: "'2026-06-15 10:00+00'") == "")
    #expect(try await scene.database.sql("select count(*) from tacet.campaign_slots") == "0")
  }

  @Test("a campaign's own time goes before the service's")
  func ownTime() async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    try await scene.database.sql("update tacet.campaigns set local_time = '18:00'")
    #expect(try await noted(scene, at: "'2026-06-15 10:00+00'") == "")
    #expect(try await noted(scene, at: "'2026-06-15 18:00+00'") == "UTC")
  }

  @Test("is served once, whoever else is about to; and by the other when the first gives up", arguments: [true, false])
  func once(_ isCommitted: Bool) async throws {
    let scene = try await CampaignScene()
    try await scene.addUser(zone: "'UTC'")
    let enrol = enrol("timestamptz '2026-06-15 10:00+00'")
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(enrol, on: reactor) == "1")
      let begun = Begun.begin(on: reactor) { try await second.value(enrol, on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      #expect(try await begun.value(on: reactor) == (isCommitted ? "0" : "1"))
    }
    #expect(try await scene.database.sql("select sum(enrolled) from tacet.campaign_runs") == "1")
    #expect(try await scene.database.sql("select count(*) from tacet.campaign_decisions") == "1")
  }

  private func enrol(_ moment: String) -> String {
    let zones = Self.zones.map { "'\($0)'" } + ["'UTC'"]
    return "tacet.enrol_due('coach', '10:00', array[\(zones.joined(separator: ", "))], \(moment))"
  }

  /// The zones of those whom the hours of a moment would note.
  private func noted(_ scene: CampaignScene, at moment: String) async throws -> String {
    let rows = try await scene.database.sql(
      """
      begin;
      do $$ begin perform \(enrol(moment)); end $$;
      select coalesce(string_agg(time_zone, ' ' order by time_zone), '') from tacet.campaign_decisions;
      rollback
      """)
    return rows
  }
}
