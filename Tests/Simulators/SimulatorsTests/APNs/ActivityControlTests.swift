import HTTP2
import Reactors
import Testing

@testable import Simulators

@Suite("The control endpoint and Live Activities")
struct ActivityControlTests {
  private static let start =
    #"{"environment":"production","bundle_id":"com.example.app","kind":"push_to_start","#
    + #""attributes_type":"RideAttributes","device":"phone"}"#
  private static let app = #""environment":"production","bundle_id":"com.example.app""#

  @Test("a test plays the app: it registers a token, finds the activity's token, and sees what the device shows")
  func activity() async throws {
    try await SimulatorScene.play { scene, reactor in
      let script = Script(scene, reactor)
      #expect(try await script.send("PUT", "/tokens/AA00", Self.start).status == 204)
      #expect(try await script.send("GET", "/tokens").body.contains(#""kind":"push_to_start""#))
      let connection = try await scene.connect(on: reactor)
      let jwt = try scene.providerToken()
      let begin = scene.live(#"\#(ActivityStand.start),"input-push-token":1"#, to: "aa00", jwt)
      #expect(await connection.outcome(of: begin, on: reactor) == "200")
      let shown = try #require(try await script.activities("device=phone").first)
      #expect(shown["attributes_type"] as? String == "RideAttributes" && shown["ended"] as? Bool == false)
      let (activity, token) = (shown["activity"] as? String ?? "", shown["token"] as? String ?? "")
      let update = scene.live(#""event":"update","content-state":{"eta":2}"#, to: token, jwt)
      #expect(await connection.outcome(of: update, on: reactor) == "200")
      let updated = try #require(try await script.activities("activity=\(activity)&history=1").first)
      #expect((updated["state"] as? [String: Int]) == ["eta": 2] && updated["applied_count"] as? Int == 2)
      let applied = try #require((updated["applied"] as? [[String: Any]])?.first)
      #expect(applied["event"] as? String == "update" && applied["priority"] as? Int == 10)
      #expect((applied["received_ms"] as? Double ?? 0) > 1_700_000_000_000)
      let renewed = try await script.send("POST", "/activities/\(activity)/token")
      #expect(renewed.status == 200 && renewed.json["token"] as? String != token)
      #expect(await connection.outcome(of: update, on: reactor).contains("ExpiredToken"))
      #expect(try await script.activities("device=tablet").isEmpty)
    }
  }

  @Test("drops are shown with their reasons, and activities can be ended and forgotten")
  func drops() async throws {
    try await SimulatorScene.play { scene, reactor in
      let script = Script(scene, reactor)
      let token = #"{\#(Self.app),"kind":"update","activity":"ride 1"}"#
      #expect(try await script.send("PUT", "/tokens/bb00", token).status == 204)
      let connection = try await scene.connect(on: reactor)
      let stray = try scene.live(ActivityStand.start, to: "bb00", scene.providerToken())
      #expect(await connection.outcome(of: stray, on: reactor) == "200")
      let list = try await script.send("GET", "/activities")
      #expect(list.json["dropped"] as? [String: Int] == ["wrong_token": 1] && list.json["total"] as? Int == 1)
      #expect((list.json["drops"] as? [[String: Any]])?.first?["reason"] as? String == "wrong_token")
      #expect(try await script.send("DELETE", "/activities/ride%201").status == 204)
      #expect(try await script.activities("activity=ride+1").first?["dismissed"] as? Bool == true)
      #expect(try await script.send("DELETE", "/activities/other").status == 404)
      #expect(try await script.send("POST", "/activities/ride%201/token").status == 404)
      #expect(try await script.send("DELETE", "/activities").status == 204)
      #expect(try await script.activities("").isEmpty)
    }
  }
}

/// Requests of a script to the control endpoint.
private struct Script {
  let scene: SimulatorScene
  let reactor: Reactor

  init(_ scene: SimulatorScene, _ reactor: isolated Reactor) {
    self.scene = scene
    self.reactor = reactor
  }

  func send(_ method: String, _ target: String, _ body: String = "") async throws -> ControlClient.Answer {
    try await ControlClient.send(method, target, body, to: scene.addresses.control, on: reactor)
  }

  func activities(_ query: String) async throws -> [[String: Any]] {
    try await send("GET", "/activities?\(query)").json["activities"] as? [[String: Any]] ?? []
  }
}

extension SimulatorScene {
  /// A Live Activity push as of now.
  fileprivate func live(_ aps: String, to token: String, _ providerToken: String) -> HTTP2Request {
    let fields: HTTP2Fields = [
      "authorization": "bearer \(providerToken)", "apns-topic": "com.example.app.push-type.liveactivity",
      "apns-push-type": "liveactivity",
    ]
    return HTTP2Request(path: "/3/device/\(token)", fields: fields, body: Self.payload(aps))
  }

  private static func payload(_ aps: String) -> [UInt8] {
    Array(#"{"aps":{"timestamp":\#(SimulationClock.wall.seconds),\#(aps)}}"#.utf8)
  }
}
