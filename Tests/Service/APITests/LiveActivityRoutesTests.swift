import Foundation
import PushRules
import TestIDs
import Testing

@Suite("Live Activities over HTTP")
struct LiveActivityRoutesTests {
  private static let type = "WorkoutActivityAttributes"
  private static let path = "/v1/live-activities"
  private static let state = #"{"elapsedTime": 5, "heartRate": 120, "activeCalories": 2}"#

  private static func start(_ user: String, id: String = "run", more: String = "") -> String {
    #"{"id": "\#(id)", "user_id": "\#(user)", "type": "\#(type)", "attributes": {"workoutType": "Run", "startTime": "2026-11-25T07:30:00Z"}\#(more)}"#
  }

  @Test("a server starts, updates and ends one, and learns what became of it")
  func life() async throws {
    try await ServiceRig.run { (rig) async throws in
      let user = HostID.new().text
      #expect(try await rig.ask("POST", Self.path, body: Self.start(user)).status == 201)
      #expect(try await rig.ask("POST", Self.path, body: Self.start(user)).status == 200)
      #expect(try await rig.ask("POST", Self.path, body: Self.start(HostID.new().text)).status == 409)
      let update = #"{"state": \#(Self.state), "priority": 10, "alert": {"title": "Half way"}, "relevance_score": 2}"#
      #expect(try await rig.ask("PATCH", Self.path + "/run", body: update).status == 200)
      let told = try await rig.ask("GET", Self.path + "/run")
      #expect(told.status == 200 && told.body.contains(#""version":2"#) && told.body.contains("push-to-start token"))
      #expect(try await rig.ask("POST", Self.path + "/run/end", body: "{}").status == 200)
      #expect(try await rig.ask("PATCH", Self.path + "/run", body: update).status == 409)
      #expect(try await rig.ask("POST", Self.path + "/run/end", body: "{}").status == 200)
      #expect(try await rig.ask("GET", Self.path + "/walk").status == 404)
      #expect(try await rig.ask("PATCH", Self.path + "/walk", body: update).status == 404)
      #expect(try await rig.ask("PATCH", Self.path + "/run", as: user, body: update).status == 401)
    }
  }

  @Test("a server ends all of a user, and must say whose")
  func endAll() async throws {
    try await ServiceRig.run { (rig) async throws in
      let user = HostID.new().text
      for id in ["run", "swim"] {
        #expect(try await rig.ask("POST", Self.path, body: Self.start(user, id: id)).status == 201)
      }
      #expect(try await rig.ask("DELETE", Self.path).status == 400)
      #expect(try await rig.ask("DELETE", Self.path + "?user_id=\(user)").body == #"{"ended":2}"#)
      #expect(try await rig.ask("DELETE", Self.path + "?user_id=\(user)").body == #"{"ended":0}"#)
      #expect(try await rig.ask("DELETE", Self.path + "?user_id=\(user)", as: user).status == 401)
    }
  }

  @Test(
    "what the device would not decode is refused, and says why",
    arguments: [
      #", "state": {"elapsedTime": 1}"#, #", "state": {"elapsedTime": "1", "heartRate": 1, "activeCalories": 1}"#,
      #", "state": {"elapsedTime": 1, "heartRate": 1, "activeCalories": 1, "pulse": 3}"#, #", "alert": {"body": "x"}"#,
      #", "sound": "x""#, #", "state": []"#,
      #", "attributes": {"workoutType": "a\u0000b"}"#, #", "alert": {"title": "\u0000"}"#,
    ])
  func refused(_ more: String) async throws {
    try await ServiceRig.run { (rig) async throws in
      let answer = try await rig.ask("POST", Self.path, body: Self.start(HostID.new().text, more: more))
      #expect(answer.status == 400, "\(answer.body)")
      #expect(try await rig.psql("select count(*) from tacet.activities") == "0\n")
    }
  }

  @Test("an app reports its tokens and what it has started itself; of others it learns nothing")
  func app() async throws {
    try await ServiceRig.run { (rig) async throws in
      let (user, other) = (HostID.new().text, HostID.new().text)
      let starts = "/v1/devices/AA01/push-to-start/"
      #expect(try await rig.ask("PUT", starts + Self.type, as: user, body: #"{"token": "BB01"}"#).status == 204)
      #expect(try await rig.ask("PUT", starts + "Nothing", as: user, body: #"{"token": "bb01"}"#).status == 404)
      #expect(try await rig.ask("PUT", starts + Self.type, as: user, body: #"{"token": "b"}"#).status == 400)
      #expect(try await rig.psql("select device_token, token from tacet.activity_start_tokens") == "aa01|bb01\n")
      let meal = #"{"type": "MealTrackingActivityAttributes", "attributes": {"mealType": "Lunch"}}"#
      let path = Self.path + "/lunch"
      #expect(try await rig.ask("PUT", path, as: user, body: meal).status == 204)
      let workout =
        #"{"type": "WorkoutActivityAttributes", "attributes": {"workoutType": "Run", "startTime": "2026-11-25T07:30:00Z"}}"#
      #expect(try await rig.ask("PUT", path, as: user, body: workout).status == 409)
      let token = #"{"token": "CC01", "device_token": "aa01", "app": "com.example.app", "environment": "sandbox"}"#
      #expect(try await rig.ask("PUT", path + "/token", as: user, body: token).status == 204)
      #expect(try await rig.ask("PUT", path + "/token", as: other, body: token).status == 404)
      #expect(try await rig.ask("DELETE", path, as: other).status == 404)
      #expect(try await rig.ask("GET", path).status == 404)
      #expect(try await rig.ask("GET", path + "?user_id=\(user)").body.contains(#""id":"lunch""#))
      #expect(try await rig.ask("GET", path + "?user_id=\(other)").status == 404)
      #expect(try await rig.ask("DELETE", path, as: user).status == 204)
      #expect(
        try await rig.psql("select end_reason, attributes -> 'targetCalories' from tacet.activities") == "app|600\n")
      #expect(try await rig.psql("select count(*) from tacet.inbox") == "0\n")
      #expect(try await rig.ask("DELETE", starts + Self.type, as: other).status == 204)
      #expect(try await rig.psql("select count(*) from tacet.activity_start_tokens") == "1\n")
      #expect(try await rig.ask("DELETE", starts + Self.type, as: user).status == 204)
      #expect(try await rig.psql("select count(*) from tacet.activity_start_tokens") == "0\n")
    }
  }
}
