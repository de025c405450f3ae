import Cryptography
import Foundation
import HTTP2
import Reactors
import Testing

@testable import Simulators

@Suite("The control endpoint")
struct APNSControlRoutesTests {
  @Test("a device that a script registers takes pushes, as it says, until it is removed")
  func devices() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let device =
        #"{"environment":"production","bundle_id":"com.example.app","answers":[{"status":503,"reason":"Shutdown"}]}"#
      #expect(try await ControlClient.send("PUT", "/tokens/00FF", device, to: control, on: reactor).status == 204)
      let list = try await ControlClient.send("GET", "/tokens", to: control, on: reactor)
      #expect(list.json["total"] as? Int == 2)
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken(), to: "00ff")
      #expect(await connection.outcome(of: push, on: reactor) == #"503 {"reason":"Shutdown"}"#)
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      #expect(try await ControlClient.send("DELETE", "/tokens/00ff", to: control, on: reactor).status == 204)
      #expect(await connection.outcome(of: push, on: reactor) == #"400 {"reason":"BadDeviceToken"}"#)
      #expect(try await ControlClient.send("DELETE", "/tokens/00ff", to: control, on: reactor).status == 404)
    }
  }

  @Test("pushes, screens, lint and connections are shown as they happened")
  func shows() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken(), collapseID: "m 1")
      for _ in 0..<2 { _ = await connection.outcome(of: push, on: reactor) }
      let page = try await ControlClient.send("GET", "/pushes?after=1&collapse_id=m+1", to: control, on: reactor)
      let pushes = try #require(page.json["pushes"] as? [[String: Any]])
      #expect(pushes.map { $0["number"] as? Int } == [2] && page.json["next"] as? Int == 2)
      #expect(pushes.first?["token"] as? String == SimulatorScene.token && pushes.first?["status"] as? Int == 200)
      let screen = try await ControlClient.send("GET", "/screen", to: control, on: reactor)
      #expect((screen.json["lines"] as? [[String: Any]])?.map { $0["shown"] as? Int } == [2])
      let connections = try await ControlClient.send("GET", "/connections", to: control, on: reactor)
      #expect((connections.json["open"] as? [[String: Any]])?.map { $0["requests"] as? Int } == [2])
      #expect(try await ControlClient.send("GET", "/lint", to: control, on: reactor).json["counts"] != nil)
      #expect(try await ControlClient.send("DELETE", "/pushes", to: control, on: reactor).status == 204)
      let health = try await ControlClient.send("GET", "/healthz", to: control, on: reactor)
      #expect(health.json["pushes"] as? Int == 0 && health.json["connections"] as? Int == 1)
    }
  }

  @Test("waiting for pushes answers with the last of them, or 408 when the time is over")
  func wait() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let late = try await ControlClient.send("GET", "/pushes/wait?count=1&timeout_ms=1", to: control, on: reactor)
      #expect(late.status == 408)
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      reactor.start { _ = await connection.outcome(of: push, on: reactor) }
      let answer = try await ControlClient.send("GET", "/pushes/wait?count=1", to: control, on: reactor)
      #expect(answer.status == 200 && answer.json["total"] as? Int == 1)
    }
  }

  @Test("a fault, a key and the clock are taken, and work")
  func server() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      let fault = #"{"kind":"refuse_stream","times":1}"#
      #expect(try await ControlClient.send("POST", "/faults", fault, to: control, on: reactor).status == 204)
      #expect(await connection.outcome(of: push, on: reactor) == "not processed: refused")
      let key = KeyText(identifier: "KEY0000002", pem: P256PrivateKey().publicKey.pem)
      #expect(try await ControlClient.send("POST", "/keys", key.json(), to: control, on: reactor).status == 204)
      #expect(scene.service.withRegistry { $0.keys.count } == 2)
      let hours = #"{"advance_ms":7200000}"#
      #expect(try await ControlClient.send("POST", "/clock", hours, to: control, on: reactor).status == 204)
      #expect(await connection.outcome(of: push, on: reactor) == #"403 {"reason":"ExpiredProviderToken"}"#)
      let now = try await ControlClient.send(
        "POST", "/faults", #"{"kind":"goaway","now":true}"#, to: control, on: reactor)
      #expect(now.json["connections"] as? Int == 1)
    }
  }

  @Test("conduct is changed member by member, and shown")
  func conduct() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let churn = #""churn":{"connections":5,"refused_ms":100,"seconds":60}"#
      let live = #""activity_budget":4,"allows_updates":false"#
      for change in [
        #"{"delay_ms":3,"idle_ms":9000,\#(live)}"#, #"{"token_rate":{"pushes":2,"seconds":60},\#(churn)}"#,
      ] {
        #expect(try await ControlClient.send("POST", "/conduct", change, to: control, on: reactor).status == 204)
      }
      let shown = try await ControlClient.send("GET", "/conduct", to: control, on: reactor)
      #expect(
        shown.body == #"{\#(live),\#(churn),"delay_ms":3,"idle_ms":9000,"token_rate":{"pushes":2,"seconds":60}}"#)
      let reset = #"{"activity_budget":0,"idle_ms":0,"token_rate":{"pushes":0,"seconds":1}}"#
      #expect(try await ControlClient.send("POST", "/conduct", reset, to: control, on: reactor).status == 204)
      #expect(scene.service.conduct.idleMilliseconds == nil && scene.service.conduct.delayMilliseconds == 3)
      #expect(scene.service.conduct.activityBudget == nil && !scene.service.conduct.allowsActivityUpdates)
      #expect(scene.service.withRegistry { $0.tokenRate } == nil)
    }
  }

  @Test("faults are shown while they wait and when they have happened, and refused connections are counted")
  func faults() async throws {
    try await SimulatorScene.play { scene, reactor in
      let control = scene.addresses.control
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      for fault in [#"{"kind":"delay","delay_ms":1}"#, #"{"kind":"streams","streams":4,"skip":2}"#] {
        #expect(try await ControlClient.send("POST", "/faults", fault, to: control, on: reactor).status == 204)
      }
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      let shown = try await ControlClient.send("GET", "/faults", to: control, on: reactor)
      #expect(shown.body.contains(#""waiting":[{"kind":"streams","skip":2,"streams":4,"times":1}]"#))
      #expect((shown.json["met"] as? [[String: Any]])?.map { $0["kind"] as? String } == ["delay"])
      let refuse = #"{"kind":"refuse_connections"}"#
      #expect(try await ControlClient.send("POST", "/faults", refuse, to: control, on: reactor).status == 204)
      await #expect(throws: (any Error).self) { _ = try await scene.connect(on: reactor) }
      let connections = try await ControlClient.send("GET", "/connections", to: control, on: reactor)
      #expect(connections.json["refused"] as? Int == 1 && connections.json["opened"] as? Int == 1)
      #expect(try await ControlClient.send("DELETE", "/faults", to: control, on: reactor).status == 204)
      let empty = try await ControlClient.send("GET", "/faults", to: control, on: reactor)
      #expect(empty.body == #"{"met":[],"waiting":[]}"#)
    }
  }

  @Test(
    "what makes no sense is refused and named",
    arguments: [
      ("PUT", "/tokens/00f", #"{"environment":"production","bundle_id":"a"}"#, "even number"),
      ("PUT", "/tokens/00ff", "{}", "environment"),
      ("PUT", "/tokens/00ff", #"{"enviroment":"production"}"#, "enviroment"), ("PUT", "/tokens/00ff", "[]", "body"),
      ("GET", "/pushes?after=-1", "", "after"), ("GET", "/pushes/wait", "", "count"),
      ("POST", "/faults", #"{"kind":"streams"}"#, "streams"), ("POST", "/faults", #"{"kind":"flood"}"#, "flood"),
      ("POST", "/faults", #"{"kind":"goaway","last_stream":"some"}"#, "last_stream"),
      ("POST", "/faults", #"{"kind":"refuse_stream","now":true}"#, "now"),
      ("POST", "/keys", #"{"key_id":"K","team_id":"T","pem":"x"}"#, "pem"),
      ("POST", "/bundles", #"{"bundle":"a"}"#, "bundle_id"), ("POST", "/conduct", #"{"delay_ms":-1}"#, "delay_ms"),
      ("POST", "/certificates", #"{"pem":"x","topics":["a"]}"#, "certificate"),
      ("POST", "/conduct", #"{"churn":{"connections":1,"seconds":1,"refused_ms":0}}"#, "refused_ms"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","answers":[{"status":99}]}"#, "status"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","delay_ms":-1}"#, "delay_ms"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","kind":"start"}"#, "kind"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","kind":"push_to_start"}"#, "attributes_type"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","kind":"update","activity":""}"#, "activity"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","activity":"x"}"#, "activity"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","allows_updates":true}"#, "allows_updates"),
      ("PUT", "/tokens/00ff", #"{"environment":"sandbox","bundle_id":"a","attributes_type":"T"}"#, "attributes_type"),
      ("POST", "/conduct", #"{"activity_budget":-1}"#, "activity_budget"),
      ("GET", "/activities?limit=x", "", "limit"), ("GET", "/activities?history=-1", "", "history"),
      ("POST", "/activities/x/token", #"{"token":"0"}"#, "even number"),
    ])
  func refusals(_ method: String, _ target: String, _ body: String, _ named: String) async throws {
    try await SimulatorScene.play { scene, reactor in
      let answer = try await ControlClient.send(method, target, body, to: scene.addresses.control, on: reactor)
      #expect(answer.status == 400)
      #expect(answer.body.contains(named))
    }
  }
}

private struct KeyText: Encodable {
  let identifier: String
  let team = "TEAM000002"
  let pem: String

  enum CodingKeys: String, CodingKey {
    case pem
    case identifier = "key_id"
    case team = "team_id"
  }

  func json() throws -> String {
    String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
  }
}
