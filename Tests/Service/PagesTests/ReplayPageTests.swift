import Foundation
import Testing

@testable import Pages

@Suite("The page of the replay")
struct ReplayPageTests {
  /// Sent at the end of a hold of 50 s, and one that is recorded without its claims.
  private static let rows = """
    insert into tacet.push_log (enqueued_at, subject_id, user_id, push_type, decision, history)
    select now() - interval '5 min', '0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11', gen_random_uuid(), 'message', 'sent',
      jsonb_build_array(
        jsonb_build_object(
          'claim', 1, 'at', t, 'by', 'i', 'woken_by', 'notify', 'decision', 'held', 'reason', 'user_viewing',
          'remaining', 'held', 'due_us', 50000000, 'known', jsonb_build_object(
            'message_us', 2000, 'seen_us', 10000000, 'devices', 1, 'window_us', 60000000, 'ttl_us', 3600000000)),
        jsonb_build_object(
          'claim', 2, 'at', t + 50001000, 'by', 'i', 'woken_by', 'due', 'decision', 'sent', 'known', jsonb_build_object(
            'message_us', 50003000, 'held_us', 50000000, 'seen_us', 60001000, 'devices', 1, 'window_us', 60000000,
            'ttl_us', 3600000000)))
    from (select (extract(epoch from now() - interval '5 min') * 1000000)::bigint + 2000) as m (t);
    insert into tacet.push_log (subject_id, user_id, push_type, decision)
    values (gen_random_uuid(), gen_random_uuid(), 'message', 'skipped')
    """

  @Test("shows a form, and what the form's rules change, with links to the explanations")
  func changes() async throws {
    try await PageRig.run { rig in
      try await rig.sql(Self.rows)
      let session = try await rig.logIn()
      let empty = try await rig.get("/dashboard/replay", cookie: session)
      #expect(empty.status == 200 && empty.body.contains("name=\"window\"") && !empty.body.contains("<table"))
      #expect(empty.body.contains("<option value=\"1\" selected>hour</option>"))
      let form = "hours=6&window=5&ttl=&fold=&quiet=own&from=22%3A00&until=07%3A00&zone=UTC"
      let page = try await rig.get("/dashboard/replay?" + form, cookie: session)
      #expect(page.status == 200)
      for text in [
        "2 pushes, 1 of them otherwise", ">earlier<", ">50.00 s<", ">held user_viewing, then sent<", ">not recorded<",
        "value=\"5\"", "<option value=\"6\" selected>", "1 as recorded",
        "/dashboard/explain?subject_id=0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11&amp;kind=message&amp;user_id=",
      ] {
        #expect(page.body.contains(text), "\(text)\n\(page.body)")
      }
      let same = try await rig.get("/dashboard/replay?hours=1&window=60", cookie: session)
      #expect(same.body.contains("2 pushes, 0 of them otherwise"))
      let folded = try await rig.get(
        "/dashboard/replay?hours=1&fold=20&quiet=daily&from=00:00&until=00:00&zone=UTC", cookie: session)
      #expect(folded.body.contains("With sound") && folded.body.contains(">later or never<"))
    }
  }

  @Test(
    "a form that cannot be is refused, with what was typed",
    arguments: [
      ("hours=1&window=5x", "window_seconds must be a whole number"), ("hours=1&ttl=0", "message_ttl_seconds must be"),
      ("hours=1&quiet=daily&zone=%3Cb%3E", "quiet_hours.time_zone must be a time zone"), ("hours=2", "no form"),
      ("hours=1&quiet=x", "no form"), ("hours=", "no form"),
    ])
  func refused(_ query: String, _ text: String) async throws {
    try await PageRig.run { rig in
      let page = try await rig.get("/dashboard/replay?" + query, cookie: try await rig.logIn())
      #expect(page.status == 400 && page.body.contains(text), "\(page.body)")
      #expect(!page.body.contains("<b>"))
    }
  }
}
