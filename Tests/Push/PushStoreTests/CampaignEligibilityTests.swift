import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Whom a campaign looks at")
struct CampaignEligibilityTests {
  /// A Monday, far from any change of clocks in the north.
  private static let moment = "2026-06-15 10:00:00+00"

  @Test("those who clearly asked for it, at a frequency that is known")
  func wishes() async throws {
    let scene = try await CampaignScene()
    let (said, unreadable) = ("no_preference", "preferences_unreadable")
    for (wishes, refusal) in [
      (#"{"check_ins_enabled": true, "frequency": "daily"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "few_times_a_week"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "weekly"}"#, ""),
      (#"{"check_ins_enabled": true, "frequency": "never"}"#, "never_wanted"),
      (#"{"check_ins_enabled": true, "frequency": "Daily"}"#, unreadable),
      (#"{"check_ins_enabled": true, "frequency": "hourly"}"#, unreadable),
      (#"{"check_ins_enabled": true, "frequency": null}"#, said),
      (#"{"check_ins_enabled": true, "frequency": ["daily"]}"#, unreadable),
      (#"{"check_ins_enabled": true}"#, said),
      (#"{"check_ins_enabled": "true", "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": 1, "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": [true], "frequency": "daily"}"#, unreadable),
      (#"{"check_ins_enabled": null, "frequency": "daily"}"#, nil),
      (#"{"check_ins_enabled": false, "frequency": "daily"}"#, nil),
      (#"{"frequency": "daily"}"#, nil), ("{}", nil), ("[]", unreadable), ("true", unreadable), ("null", nil),
    ] {
      let user = try await scene.addUser(wishes)
      #expect(try await scene.isEligible(user, at: Self.moment) == (refusal == ""), "\(wishes)")
      let found = try await scene.database.sql(
        "select coalesce(refusal, '') from tacet.check_in_audience(now(), '\(user)') union all select 'none' limit 1")
      #expect(found == refusal ?? "none", "\(wishes)")
    }
  }

  @Test("those who have a device token that is not invalidated")
  func tokens() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser()
    let another = "insert into push_tokens (user_id, device_token) values ('\(user)', 'aa')"
    for (sql, isEligible) in [
      ("", true), ("delete from push_tokens", false), ("update push_tokens set invalidated_at = now()", false),
      ("update push_tokens set invalidated_at = now(); \(another)", true),
    ] { #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(sql)") }
  }

  @Test("those whose last push is as long ago as they want, to the microsecond of their clock")
  func gaps() async throws {
    let scene = try await CampaignScene()
    for (frequency, days) in [("daily", 1), ("few_times_a_week", 2), ("weekly", 7)] {
      let user = try await scene.addUser(
        #"{"check_ins_enabled": true, "frequency": "\#(frequency)"}"#, zone: "'UTC'")
      for (offset, isEligible) in [(-1, true), (0, true), (1, false)] {
        let sent = "timestamptz '\(Self.moment)' - interval '\(days) days' + interval '\(offset) us'"
        #expect(
          try await scene.isEligible(user, at: Self.moment, after: ledger(user, sent: sent)) == isEligible,
          "\(frequency) \(offset)")
      }
    }
  }

  @Test("a push of a campaign counts from the hour it was written for, and that may come half an hour early")
  func hours() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'UTC'")
    let gap = "timestamptz '\(Self.moment)' - interval '1 day'"
    for (due, isEligible) in [
      ("extract(epoch from \(gap))", true), ("extract(epoch from \(gap) + interval '30 min')", true),
      ("extract(epoch from \(gap) + interval '30 min 1 us')", false),
      // Not a number: as if it were not there.
      ("extract(epoch from \(gap))::text", false), ("null::text", false), ("true", false),
    ] {
      let metadata = "jsonb_build_object('due_at', \(due))"
      let sql = ledger(user, sent: "\(gap) + interval '40 min'", metadata: metadata)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(due)")
    }
  }

  @Test("a day of the user's clock is a day, though it has 23 or 25 hours")
  func unevenDays() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'America/New_York'")
    for (moment, sent) in [
      ("2026-03-08 14:00:00+00", "2026-03-07 15:00:00+00"), ("2026-11-01 15:00:00+00", "2026-10-31 14:00:00+00"),
    ] {
      for (offset, isEligible) in [(0, true), (1, false)] {
        let sql = ledger(user, sent: "timestamptz '\(sent)' + interval '\(offset) us'")
        #expect(try await scene.isEligible(user, at: moment, after: sql) == isEligible, "\(moment) \(offset)")
      }
    }
  }

  @Test("never two on one day of the user's, whatever the hour they were written for")
  func onceADay() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'Asia/Kathmandu'")
    let dayStart = "timestamptz '2026-06-14 18:15:00+00'"
    for (offset, isEligible) in [(-1, true), (0, false), (1, false)] {
      let sql = ledger(
        user, sent: "\(dayStart) + interval '\(offset) us'", metadata: #"'{"due_at": 1}'"#)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(offset)")
    }
    for (day, isEligible) in [("2026-06-14", true), ("2026-06-15", false), ("2026-06-16", false)] {
      let sql =
        "insert into tacet.frequency_caps (user_id, cap_group, committed_day) values ('\(user)', 'check_in', '\(day)')"
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql) == isEligible, "\(day)")
    }
  }

  @Test("what was not sent does not count, nor do messages; pushes of all campaigns of the group do")
  func whatCounts() async throws {
    let scene = try await CampaignScene()
    let user = try await scene.addUser(zone: "'UTC'")
    for decision in ["held", "failed", "skipped"] {
      let sql = ledger(user, sent: "null", decision: decision)
      #expect(try await scene.isEligible(user, at: Self.moment, after: sql), "\(decision)")
    }
    let now = "timestamptz '\(Self.moment)'"
    #expect(try await scene.isEligible(user, at: Self.moment, after: ledger(user, sent: now, type: "message")))
    let birthday = ledger(user, sent: now, type: "birthday")
    #expect(try await scene.isEligible(user, at: Self.moment, after: birthday))
    try await scene.addCampaign("birthdays", pushTypes: "{birthday}")
    #expect(try await !scene.isEligible(user, at: Self.moment, after: birthday))
    #expect(try await scene.isEligible(HostID.new(), at: Self.moment) == false)
  }

  private func ledger(
    _ user: HostID, sent: String, type: String = "re_engagement", decision: String = "sent", metadata: String = "'{}'"
  ) -> String {
    """
    insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, metadata)
    values (gen_random_uuid(), '\(user)', '\(type)', '\(decision)', \(sent), \(metadata))
    """
  }
}
