import FoundationEssentials
import PushRules
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("Pushes of other servers")
struct PushSubmissionRouteTests {
  private struct Answer: Decodable {
    let push_id: String
    let push_log_id: String
    let sent: Bool
    let skipped: Bool
    let reason: String?
    let recipients: [Recipient]

    struct Recipient: Decodable {
      let user_id: String
      let decision: String
    }
  }

  private static func makeUser(in rig: ServiceRig) async throws -> String {
    let user = HostID.new().text
    try await rig.psql(
      """
      insert into profiles (id) values ('\(user)');
      insert into push_tokens (user_id, device_token) values ('\(user)', '\(user.filter { $0 != "-" })')
      """)
    return user
  }

  private static func post(
    _ body: String, key: String? = nil, prefer: String? = nil, in rig: ServiceRig
  ) async throws -> PlainResponse {
    var fields: [String: String] = [:]
    fields["Idempotency-Key"] = key
    fields["Prefer"] = prefer
    return try await rig.ask("POST", "/v1/pushes", body: body, fields: fields)
  }

  @Test("it is sent, answered with its outcome, and its words stand in the row of the ledger that the answer names")
  func sent() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let response = try await Self.post(
        #"{"user_id":"\#(user)","title":"Hello","body":"You","data":{"n":1},"kind":"promo"}"#, in: rig)
      #expect(response.status == 200)
      let answer = try response.decode(Answer.self)
      #expect(answer.sent)
      #expect(answer.recipients.map(\.user_id) == [user])
      let row = try await rig.psql(
        "select subject_id, user_id, push_type, content from tacet.push_log where id = '\(answer.push_log_id)'")
      #expect(row == "\(answer.push_id)|\(user)|promo|Hello\nYou\n")
    }
  }

  @Test("a user without a device is told of nothing, and the answer says so")
  func noTokens() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let answer = try await Self.post(#"{"user_id":"\#(HostID.new())","title":"a","body":""}"#, in: rig).decode(
        Answer.self)
      #expect(answer.skipped)
      #expect(answer.reason == "no_tokens")
    }
  }

  @Test("a key that comes again gets the recorded outcome and sends nothing; with another content it is 422")
  func idempotency() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let body = #"{"user_id":"\#(user)","title":"a","body":"b","data":{"x":1,"y":[1.5e300]}}"#
      let reordered = #"{"data":{"y":[1.5E+300],"x":1},"body":"b","title":"a","kind":"push","user_id":"\#(user)"}"#
      let first = try await Self.post(body, key: "k1", in: rig)
      #expect(first.status == 200)
      for again in [body, reordered] {
        let response = try await Self.post(again, key: "k1", in: rig)
        #expect(response.status == 200)
        #expect(response.body == first.body)
      }
      for other in [#""title":"b""#, #""title":"a","data":{}"#, #""title":"a","collapse_id":"c""#] {
        let response = try await Self.post(#"{"user_id":"\#(user)","body":"b",\#(other)}"#, key: "k1", in: rig)
        #expect(response.status == 422)
      }
      #expect(try await Self.post(body, key: "k2", in: rig).decode(Answer.self).sent)
      #expect(await rig.parts.perform { parts, _ in parts.channel.count } == 2)
    }
  }

  @Test("two requests of one key at once are one push")
  func race() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let body = #"{"user_id":"\#(user)","title":"a","body":"b"}"#
      let bodies = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<8 { group.addTask { try await Self.post(body, key: "k", in: rig).body } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(bodies.count == 1)
      #expect(await rig.parts.perform { parts, _ in parts.channel.count } == 1)
    }
  }

  @Test("who does not want to wait gets 202 with the ids, and the same key asks again")
  func asynchronous() async throws {
    try await ServiceRig.run { rig in
      let user = try await Self.makeUser(in: rig)
      let body = #"{"user_id":"\#(user)","title":"a","body":"b"}"#
      let response = try await Self.post(body, key: "k", prefer: "respond-async", in: rig)
      #expect(response.status == 202)
      let answer = try response.decode(Answer.self)
      rig.startPipeline()
      let later = try await Self.post(body, key: "k", prefer: "wait=30", in: rig)
      #expect(later.status == 200)
      #expect(try later.decode(Answer.self).push_log_id == answer.push_log_id)
      #expect(try await rig.psql("select id from tacet.push_log") == "\(answer.push_log_id)\n")
    }
  }

  @Test("the largest title, body and data are accepted, as far as they fit together")
  func largest() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let title = String(repeating: "a", count: 256)
      for rest in [
        #""body":"\#(String(repeating: "a", count: 2048))""#,
        #""body":"","data":{"x":"\#(String(repeating: "a", count: 2040))"}"#,
      ] {
        let response = try await Self.post(#"{"user_id":"\#(user)","title":"\#(title)",\#(rest)}"#, in: rig)
        #expect(try response.decode(Answer.self).sent)
      }
    }
  }

  @Test("a key that is none is 400", arguments: ["a b", "é", String(repeating: "k", count: 256)])
  func malformedKey(key: String) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await Self.post(#"{"user_id":"\#(HostID.new())","title":"a","body":""}"#, key: key, in: rig)
      #expect(response.status == 400)
    }
  }
}

@Suite("Pushes for later, cancelled and capped")
struct ScheduledPushTests {
  private static func makeUser(in rig: ServiceRig) async throws -> String {
    let user = HostID.new().text
    try await rig.psql(
      """
      insert into profiles (id) values ('\(user)');
      insert into push_tokens (user_id, device_token, time_zone)
      values ('\(user)', '\(user.filter { $0 != "-" })', '\(otherDay)')
      """)
    return user
  }

  /// A zone where it is another day than in UTC, and midnight is an hour away or more; the signs are those of POSIX.
  private static let otherDay = Int(Date().timeIntervalSince1970) / 3600 % 24 >= 11 ? "Etc/GMT-14" : "Etc/GMT+12"

  private static func post(_ user: String, _ members: String, in rig: ServiceRig) async throws -> PlainResponse {
    try await rig.ask("POST", "/v1/pushes", body: #"{"user_id":"\#(user)","title":"a","body":"b",\#(members)}"#)
  }

  private static func time(in seconds: Double) -> String {
    Date(timeIntervalSinceNow: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Waits until the ledger has this many decisions; what it says then, the oldest push first.
  private static func decided(_ count: Int, in rig: ServiceRig) async throws -> String {
    try await rig.wait(for: "t", to: "select count(*) >= \(count) from tacet.push_log where decision <> 'held'")
    return try await rig.psql("select decision, coalesce(reason, '') from tacet.push_log order by enqueued_at")
  }

  @Test("a push for later is answered at once and goes out at its time, not before")
  func later() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = try await Self.makeUser(in: rig)
      let response = try await Self.post(user, #""send_at":"\#(Self.time(in: 4))""#, in: rig)
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
        values ('\(users[0])', '00:00', '23:59', '\(Self.otherDay)', 'hold');
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
      let day = "(now() at time zone '\(Self.otherDay)')::date"
      #expect(try await rig.psql("select count(*) from tacet.frequency_caps where committed_day = \(day)") == "3\n")
      try await rig.psql("update tacet.frequency_caps set committed_day = committed_day - 1")
      #expect(try await Self.post(users[0], #""cap_group":"tips""#, in: rig).body.contains(#""sent":true"#))
    }
  }
}
