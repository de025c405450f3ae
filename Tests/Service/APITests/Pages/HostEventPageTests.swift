import Foundation
import PushStore
import TestIDs
import Testing

@testable import API

@Suite("The page of events for the host")
struct HostEventPageTests {
  private static let user = "0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11"
  private static let subject = "7f0c1f4e-9f5c-4a57-8b53-1f8c54a1c2f1"

  @Test("it shows dead and waiting events with the last answer, and sends them again", .uuidsOnly)
  func shown() async throws {
    try await PageRig.run { rig in
      let session = try await rig.logIn()
      let empty = try await rig.get("/dashboard/events", cookie: session)
      #expect(empty.status == 200 && empty.body.contains("There are none."))
      try await rig.sql(
        """
        insert into tacet.host_events (type, user_id, subject_id, kind, state, attempts, status, error, ended_at)
        values ('push.unread', '\(Self.user)', '\(Self.subject)', 'message', 'dead', 9, 503, 'status <503>', now());
        insert into tacet.host_events (type, user_id, due_at) values ('device.dropped', '\(Self.user)', now() + interval '1 h')
        """)
      let page = try await rig.get("/dashboard/events", cookie: session)
      for text in [
        "push.unread of <a href=\"/dashboard/explain?subject_id=\(Self.subject)&amp;kind=message", "status &lt;503&gt;",
        "device.dropped", "not tried", "action=\"/dashboard/events/retry\"",
      ] {
        #expect(page.body.contains(text), "\(text)")
      }
      let answer = try await rig.post("/dashboard/events/retry", "", cookie: session)
      #expect(answer.status == 303)
      #expect(
        try await rig.sql("select count(*) from tacet.host_events where state = 'waiting' and due_at <= now()") == "2")
    }
  }
}
