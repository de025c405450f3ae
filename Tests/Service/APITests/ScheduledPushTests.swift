import FoundationEssentials
import PushKinds
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

  @Test(
    "nothing is cancelled without a key, by an empty one, or by a misspelt parameter",
    arguments: [
      "", "?cancel_key=", "?cancel=k", "?cancel_key=k&cancel_key=l",
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
