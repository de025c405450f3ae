import Foundation
import PushRules
import TestIDs
import Testing

@Suite("Activity and engagement over HTTP")
struct ActivityRoutesTests {
  private struct Answer: Decodable {
    let total_users: Int
    let active_users: Int
    let recent_users: Int
    let lapsed_users: Int
    let churn_risk_users: Int
    let engagement_rate: Double
    let avg_sessions_per_week: Double
    let avg_session_seconds: Double
  }

  @Test("an app says that its user is active, as often as it likes; nobody else can")
  func active() async throws {
    try await ServiceRig.run { (rig) async throws in
      let user = HostID.new().text
      for _ in 0..<3 { #expect(try await rig.ask("POST", "/v1/activity", as: user).status == 204) }
      #expect(try await rig.psql("select user_id from tacet.activity") == "\(user)\n")
      #expect(try await rig.ask("POST", "/v1/activity", as: "nobody").status == 401)
      #expect(try await rig.ask("POST", "/v1/activity", as: ServiceRig.serviceKey).status == 401)
    }
  }

  @Test("a look and a read say it too; a refused one does not")
  func signs() async throws {
    try await ServiceRig.run { (rig) async throws in
      let (path, user) = try await rig.makeConversation()
      #expect(try await rig.ask("PUT", path + "/last-seen", as: HostID.new().text).status == 403)
      #expect(try await rig.ask("PUT", path + "/last-seen", as: user).status == 204)
      try await rig.awaitActivity(of: user)
      let (otherPath, reader) = try await rig.makeConversation()
      #expect(try await rig.ask("POST", otherPath + "/read", as: reader, body: "{}").status == 200)
      try await rig.awaitActivity(of: reader)
      #expect(try await rig.psql("select count(*) from tacet.activity") == "2\n")
    }
  }

  @Test("users of today, of four and of five days ago: 3, 1, 0, 2, 0 and a third; nobody is 0")
  func engagement() async throws {
    try await ServiceRig.run { (rig) async throws in
      let nobody = try await rig.ask("GET", "/v1/engagement", as: ServiceRig.serviceKey).decode(Answer.self)
      #expect(nobody.total_users == 0 && nobody.engagement_rate == 0)
      #expect(nobody.avg_sessions_per_week == 0 && nobody.avg_session_seconds == 0)
      for days in [0, 4, 5] {
        let user = HostID.new()
        for minutes in [10, 0] {
          try await rig.psql(
            "select tacet.note_activity('\(user)', now() - interval '\(days) days \(minutes) minutes')")
        }
      }
      let week = try await rig.ask("GET", "/v1/engagement", as: ServiceRig.serviceKey).decode(Answer.self)
      let counts = [week.total_users, week.active_users, week.recent_users, week.lapsed_users, week.churn_risk_users]
      #expect(counts == [3, 1, 0, 2, 0])
      #expect(abs(week.engagement_rate - 1 / 3) < 1e-9)
      #expect(abs(week.avg_sessions_per_week - 1) < 1e-9 && abs(week.avg_session_seconds - 600) < 10)
      #expect(try await rig.ask("GET", "/v1/engagement", as: HostID.new().text).status == 401)
    }
  }

  @Test("a period that cannot be meant is refused by the name of what is wrong")
  func refusals() async throws {
    let soon = Date(timeIntervalSinceNow: 120).formatted(.iso8601)
    let cases = [
      ("from=yesterday", "from"), ("to=2026-13-01T00:00:00Z", "to"), ("to=", "to"), ("to=\(soon)", "to"),
      ("to=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to"), ("until=2026-01-01T00:00:00Z", "until"),
      ("from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "from"),
      ("from=2024-12-30T23:59:59Z&to=2026-01-01T00:00:00Z", "from"), ("from=2999-01-01T00:00:00Z", "from"),
    ]
    try await ServiceRig.run { (rig) async throws in
      for (query, field) in cases {
        let answer = try await rig.ask("GET", "/v1/engagement?\(query)", as: ServiceRig.serviceKey)
        #expect(answer.status == 400 && answer.field == field, "\(query): \(answer.body)")
      }
    }
  }

  @Test("either end of a period may be left out, and a period may last 366 days")
  func periods() async throws {
    let cases = [
      ("to=2026-01-08T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-08T00:00:00.000Z"),
      (
        "to=2026-01-08T01:00:00%2B01:00&from=2025-01-07T00:00:00Z", "2025-01-07T00:00:00.000Z",
        "2026-01-08T00:00:00.000Z"
      ),
    ]
    try await ServiceRig.run { (rig) async throws in
      for (query, start, end) in cases {
        let answer = try await rig.ask("GET", "/v1/engagement?\(query)", as: ServiceRig.serviceKey)
        #expect(answer.status == 200 && answer.body.contains(#""from":"\#(start)""#), "\(answer.body)")
        #expect(answer.body.contains(#""to":"\#(end)""#), "\(answer.body)")
      }
    }
  }
}

extension ServiceRig {
  /// Returns once a user's activity is written, which is some time after the answer.
  fileprivate func awaitActivity(of user: String) async throws {
    while try await psql("select count(*) from tacet.activity where user_id = '\(user)'") != "1\n" {
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
