import FoundationEssentials
import PushRules
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("Pushes for later, cancelled and capped")
struct ScheduledPushTests {
  private static func makeUser(in rig: ServiceRig) async throws -> String {
    let user = HostID.new().text
    try await rig.psql(
      """
      insert into profiles (id) values ('\(user)');
      insert into push_tokens (user_id, device_token, time_zone)
      values ('\(user)', '\(user.filter { $0 != "-" })', 'Pacific/Kiritimati')
      """)
    return user
  }

  private static func post(_ user: String, _ members: String, in rig: ServiceRig) async throws -> PlainResponse {
    try await rig.ask("POST", "/v1/pushes", body: #"{"user_id":"\#(user)","title":"a","body":"b",\#(members)}"#)
  }

  private static func time(in seconds: Double) -> String {
    Date(timeIntervalSinceNow: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Waits until the ledger has this many rows.
  private static func decided(_ count: Int, in rig: ServiceRig) async throws -> String {
    try await rig.psql(
      """
      do $$ begin
        for i in 1..1000 loop
          exit when (select count(*) from tacet.push_log) >= \(count);
          perform pg_sleep(0.01);
          commit;
        end loop;
      end $$
      """)
    return try await rig.psql("select decision, coalesce(reason, '') from tacet.push_log order by enqueued_at")
  }

  @Test("a push for later is answered at once and goes out at its time, not before")
  func later() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let response = try await Self.post(user, #""send_at":"\#(Self.time(in: 1.5))""#, in: rig)
      #expect(response.status == 202)
      #expect(try await rig.psql("select count(*) from tacet.push_log") == "0\n")
      #expect(try await Self.decided(1, in: rig) == "sent|\n")
      let isPunctual = "select bool_and(l.sent_at >= p.send_at) from tacet.push_log l, tacet.pushes p"
      #expect(try await rig.psql(isPunctual) == "t\n")
    }
  }

  @Test("a life that has ended before its time comes is recorded as expired")
  func expired() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      _ = try await Self.post(user, #""send_at":"\#(Self.time(in: -60))","expires_in":59"#, in: rig)
      #expect(try await Self.decided(1, in: rig) == "skipped|expired\n")
    }
  }

  @Test("a cancelled push is recorded as such, at once; the key says nothing of pushes that come after")
  func cancelled() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      for _ in 0..<2 {
        _ = try await Self.post(user, #""send_at":"\#(Self.time(in: 3600))","cancel_key":"k 1""#, in: rig)
      }
      _ = try await Self.post(user, #""send_at":"\#(Self.time(in: 3600))","cancel_key":"k2""#, in: rig)
      let response = try await rig.ask("DELETE", "/v1/pushes?cancel_key=k%201")
      #expect(response.status == 200)
      #expect(response.body == #"{"cancelled":2}"#)
      #expect(try await Self.decided(2, in: rig) == "skipped|cancelled\nskipped|cancelled\n")
      #expect(try await Self.post(user, #""cancel_key":"k 1""#, in: rig).status == 200)
      #expect(try await rig.psql("select count(*) from tacet.push_log where decision = 'sent'") == "1\n")
      #expect(try await rig.psql("select count(*) from tacet.inbox") == "1\n")
    }
  }

  private struct Waiting: Decodable {
    struct Push: Decodable {
      let push_id: UUID
      let state: String
      let cancel_key: String?
    }

    let pushes: [Push]
    let has_more: Bool
  }

  @Test("all that waits for a user is listed, the next first, and cancelled at once; nothing of other users is")
  func ofUser() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let users = [try await Self.makeUser(in: rig), try await Self.makeUser(in: rig)]
      for (user, seconds, key) in [(0, 7200.0, "late"), (0, 3600, "soon"), (1, 3600, "other")] {
        _ = try await Self.post(users[user], #""send_at":"\#(Self.time(in: seconds))","cancel_key":"\#(key)""#, in: rig)
      }
      _ = try await Self.post(users[0], #""send_at":"\#(Self.time(in: 3600))""#, in: rig)
      _ = try await Self.post(users[0], #""send_at":"\#(Self.time(in: 1800))","cancel_key":"gone""#, in: rig)
      _ = try await rig.ask("DELETE", "/v1/pushes?cancel_key=gone")
      _ = try await Self.decided(1, in: rig)
      // A push that is held.
      try await rig.psql(
        """
        insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy)
        values ('\(users[0])', '00:00', '23:59', 'UTC', 'hold');
        """)
      _ = try await Self.post(users[0], #""cancel_key":"held""#, in: rig)
      let list = try await rig.ask("GET", "/v1/pushes?user_id=\(users[0])").decode(Waiting.self)
      #expect(list.pushes.compactMap(\.cancel_key).filter { $0 != "held" } == ["soon", "late"] && !list.has_more)
      #expect(Set(list.pushes.map { $0.cancel_key ?? "none" }) == ["held", "soon", "none", "late"])
      #expect(list.pushes.filter { $0.state == "held" }.map(\.cancel_key) == ["held"])
      let answer = try await rig.ask("DELETE", "/v1/pushes?user_id=\(users[0])")
      #expect(answer.status == 200 && answer.body == #"{"cancelled":4}"#)
      #expect(try await rig.ask("GET", "/v1/pushes?user_id=\(users[0])").decode(Waiting.self).pushes.isEmpty)
      let decided = try await Self.decided(5, in: rig)
      #expect(decided == String(repeating: "skipped|cancelled\n", count: 5))
      #expect(try await rig.ask("GET", "/v1/pushes?user_id=\(users[1])").decode(Waiting.self).pushes.count == 1)
    }
  }

  @Test(
    "nothing is cancelled without a key, by an empty one, or by a misspelt parameter",
    arguments: [
      "", "?cancel_key=", "?cancel=k", "?user_id=", "?cancel_key=k&user_id=3e1c2f60-8e0f-4f0a-b1a5-0d3a4b5c6d7e",
      "?cancel_key=k&cancel_key=l",
      "?cancel_key=\(String(repeating: "k", count: 256))",
    ])
  func malformed(query: String) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await rig.ask("DELETE", "/v1/pushes\(query)")
      #expect(response.status == 400)
    }
  }

  @Test("of a cap group a user gets one push a day by the user's clock, whoever sends it")
  func capped() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let users = [try await Self.makeUser(in: rig), try await Self.makeUser(in: rig)]
      for (user, group, isSent) in [
        (users[0], "tips", true), (users[0], "tips", false), (users[0], "news", true), (users[1], "tips", true),
      ] {
        let response = try await Self.post(user, #""cap_group":"\#(group)""#, in: rig)
        #expect(response.body.contains(#""reason":"pushed_today""#) == !isSent)
        #expect(response.body.contains(#""sent":true"#) == isSent)
      }
      let day = "(now() at time zone 'Pacific/Kiritimati')::date"
      #expect(try await rig.psql("select count(*) from tacet.frequency_caps where committed_day = \(day)") == "3\n")
      try await rig.psql("update tacet.frequency_caps set committed_day = committed_day - 1")
      #expect(try await Self.post(users[0], #""cap_group":"tips""#, in: rig).body.contains(#""sent":true"#))
    }
  }
}
