import Foundation
import Testing

@testable import PushStore

@Suite("A session today keeps campaigns back")
struct CampaignSessionTests {
  /// A user's zone, a moment, and the first and the last moment of the user's day then, the last excluded.
  private static let days: [(zone: String, moment: String, start: String, end: String)] = [
    // 23 hours, and 25.
    ("'America/New_York'", "2026-03-08 15:00+00", "2026-03-08 05:00+00", "2026-03-09 04:00+00"),
    ("'America/New_York'", "2026-11-01 15:00+00", "2026-11-01 04:00+00", "2026-11-02 05:00+00"),
    // Without a midnight: the clock goes from 23:59 to 1:00.
    ("'America/Santiago'", "2025-09-07 15:00+00", "2025-09-07 04:00+00", "2025-09-08 03:00+00"),
    ("'Asia/Kathmandu'", "2026-06-15 04:15+00", "2026-06-14 18:15+00", "2026-06-15 18:15+00"),
    ("'Pacific/Apia'", "2026-06-14 21:00+00", "2026-06-14 11:00+00", "2026-06-15 11:00+00"),
    // Unknown ones are UTC.
    ("null", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
    ("''", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
    ("'Mars/Olympus_Mons'", "2026-06-15 10:00+00", "2026-06-15 00:00+00", "2026-06-16 00:00+00"),
  ]

  @Test("from the first to the last microsecond of the user's own day", arguments: days)
  func edges(_ zone: String, _ moment: String, _ start: String, _ end: String) async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: zone)
    for (began, isEligible) in [
      ("timestamptz '\(start)' - interval '1 us'", true), ("timestamptz '\(start)'", false),
      ("timestamptz '\(end)' - interval '1 us'", false), ("timestamptz '\(end)'", true),
    ] {
      let session = "insert into conversations (owner_id, created_at) values ('\(user)', \(began))"
      #expect(try await scene.isEligible(user, at: moment, after: session) == isEligible, "\(began)")
    }
  }

  @Test("another's session does not; nor does one where the campaign does not ask")
  func others() async throws {
    let scene = try await CampaignScene()
    let (user, other) = (try await scene.addUser(), try await scene.addUser())
    let moment = "2026-06-15 10:00+00"
    let session = "insert into conversations (owner_id, created_at) values ('\(user)', '\(moment)')"
    #expect(try await scene.isEligible(user, at: moment, after: session) == false)
    #expect(try await scene.isEligible(other, at: moment, after: session))
    try await scene.addCampaign("eager", ["needs_no_session": "false"])
    #expect(try await scene.isEligible(user, at: moment, campaign: "eager", after: session))
  }

  @Test("a name that is no zone is UTC for its user, and the run goes on for all others")
  func invalidZone() async throws {
    let scene = try await CampaignScene()
    for zone in ["'Mars/Olympus_Mons'", "'Europe/Berlin'", "null", "'; drop'"] { try await scene.addUser(zone: zone) }
    try await scene.database.sql("select tacet.enrol_campaign('coach', '2026-06-15 10:00+00', 'request')")
    let zones = try await scene.database.sql(
      "select string_agg(time_zone, ' ' order by time_zone) from tacet.campaign_decisions")
    #expect(zones == "Europe/Berlin UTC UTC UTC")
  }
}
