import Cryptography
import Foundation
import HTTP1
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

@Suite("Faults as scripts order them")
struct FaultDocumentTests {
  @Test(
    "each kind becomes what it says, with the defaults that are documented",
    arguments: [
      (#"{"kind":"goaway"}"#, ServerFault.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#)),
      (#"{"kind":"goaway","last_stream":"all"}"#, .goAway(lastStream: .all, code: 0, debug: "")),
      (
        #"{"kind":"goaway","last_stream":7,"code":7,"debug":"x"}"#,
        .goAway(lastStream: .stream(7), code: 7, debug: "x")
      ),
      (#"{"kind":"goaway","last_stream":"7","debug":""}"#, .goAway(lastStream: .stream(7), code: 0, debug: "")),
      (#"{"kind":"drop_before"}"#, .dropBeforeProcessing), (#"{"kind":"drop_after"}"#, .dropAfterProcessing),
      (#"{"kind":"black_hole"}"#, .blackHole), (#"{"kind":"silence"}"#, .silence),
      (#"{"kind":"ignore_pings"}"#, .ignorePings), (#"{"kind":"refuse_stream"}"#, .refuseStream),
      (#"{"kind":"reset_stream"}"#, .resetStream(code: 2)), (#"{"kind":"streams","streams":0}"#, .announceStreams(0)),
      (#"{"kind":"delay","delay_ms":5}"#, .delay(milliseconds: 5)),
      (
        #"{"kind":"answer","status":503,"reason":"Shutdown"}"#, .answer(ScriptedAnswer(status: 503, reason: "Shutdown"))
      ),
    ])
  func kinds(_ text: String, _ fault: ServerFault) throws {
    let order = try APNSFaultDocument.read(Array(text.utf8)).order()
    #expect(order == .script(.init(fault)))
    let shown = APNSFaultDocument(WaitingFault(fault))
    #expect(try shown.order() == order)
  }

  @Test(
    "orders that need no request",
    arguments: [
      (#"{"kind":"silence","now":true}"#, FaultOrder.strike(.silence)),
      (#"{"kind":"streams","streams":3,"now":true}"#, .strike(.announceStreams(3))),
      (#"{"kind":"refuse_connections"}"#, .refuseNext(1)),
      (#"{"kind":"refuse_connections","times":4}"#, .refuseNext(4)),
      (#"{"kind":"refuse_connections","for_ms":250}"#, .refuseFor(milliseconds: 250)),
    ])
  func withoutRequest(_ text: String, _ order: FaultOrder) throws {
    #expect(try APNSFaultDocument.read(Array(text.utf8)).order() == order)
  }

  @Test(
    "what does not go together is named",
    arguments: [
      (#"{"kind":"delay"}"#, "delay_ms is missing"), (#"{"kind":"answer"}"#, "status is missing"),
      (#"{"kind":"answer","status":199}"#, "status is a number from 200 to 599"),
      (#"{"kind":"streams"}"#, "streams is missing"),
      (#"{"kind":"silence","skip":-1}"#, "skip is a number from 0"),
      (#"{"kind":"silence","after_ms":86400001}"#, "after_ms is a number from 0 to 86400000"),
      (#"{"kind":"silence","status":500}"#, "status means nothing to silence"),
      (#"{"kind":"drop_after","last_stream":"all"}"#, "last_stream means nothing to drop_after"),
      (#"{"kind":"answer","status":500,"now":true}"#, "answer needs a request; leave out now"),
      (#"{"kind":"silence","now":true,"times":2}"#, "skip and times count requests; leave out now"),
      (#"{"kind":"refuse_connections","skip":1}"#, "refuse_connections takes times or for_ms, and after_ms"),
      (#"{"kind":"goaway","for_ms":1}"#, "for_ms means nothing to goaway"),
      (#"{"kind":"goaway","code":"x"}"#, "code has the wrong type"),
      (#"{"kind":"goaway","#, "The given data was not valid JSON"),
      ("{}", "kind is missing"), (#"{"knid":"goaway"}"#, "knid is none of"),
    ])
  func refused(_ text: String, _ detail: String) {
    let error = #expect(throws: ProblemDetails.self) { try APNSFaultDocument.read(Array(text.utf8)).order() }
    #expect(error?.detail?.hasPrefix(detail) == true, "\(error?.detail ?? "")")
  }
}

@Suite("Scenarios")
struct ScenarioTests {
  private static let device = #"{"token":"00ff","environment":"production","bundle_id":"com.example.app"}"#

  @Test("a scenario is read as lines and as an array, to the same steps")
  func forms() throws {
    let steps = [#"{"device":\#(Self.device)}"#, #"{"at_ms":5,"fault":{"kind":"goaway","now":true}}"#]
    let lines = try Scenario(parsing: "\n" + steps.joined(separator: "\n\n") + "\n")
    let array = try Scenario(parsing: " [" + steps.joined(separator: ",\n") + "]")
    for scenario in [lines, array] {
      #expect(scenario.steps.map(\.atMilliseconds) == [nil, 5])
      #expect(scenario.steps[0].device?.document.token == "00ff" && scenario.steps[1].fault != nil)
    }
    #expect(try Scenario(parsing: "").steps.isEmpty)
  }

  @Test(
    "what is wrong is named with its place",
    arguments: [
      (#"{"fault":{"kind":"flood"}}"#, "line 1: fault.kind"), ("\n{}", "line 2: a step has one of "),
      (#"{"device":\#(device),"clock":{"advance_ms":1}}"#, "line 1: a step has one of "),
      (#"{"fault":{"kind":"goaway","skpi":1}}"#, "line 1: fault: skpi is none of "),
      (#"[{"clock":{"advance_ms":1}},{"clock":{}}]"#, "the file: item 2.clock.advance_ms is missing"),
      (#"[{"clock":{"advance_ms":1}},{"at_ms":-1,"clock":{"advance_ms":1}}]"#, "step 2: at_ms is a number from 0"),
      ("[{]", "the file: The given data was not valid JSON"), ("goaway", "line 1: The given data was not valid JSON"),
      (#"{"device":{"environment":"production","bundle_id":"a"}}"#, "line 1: device.token is an even number"),
      (#"{"clock":{"advance_ms":9223372036854775807}}"#, "line 1: advance_ms moves the clock by a century at most"),
      (#"{"key":{"key_id":"K","team_id":"T","pem":"x"}}"#, "line 1: pem is not a P-256 key"),
      (#"{"certificate":{"pem":"x","topics":["a"]}}"#, "line 1: pem is not a certificate"),
      (#"{"conduct":{"token_rate":{"pushes":1,"seconds":0}}}"#, "line 1: token_rate.seconds is a number from 1"),
      (
        #"{"at_ms":5,"clock":{"advance_ms":1}}"# + "\n" + #"{"at_ms":4,"clock":{"advance_ms":1}}"#,
        "line 2: at_ms goes back"
      ),
      (#"{"at_ms":5,"clock":{"advance_ms":1}}"# + "\n" + #"{"clock":{"advance_ms":1}}"#, "line 2: at_ms goes back"),
    ])
  func refused(_ text: String, _ message: String) {
    let error = #expect(throws: ScenarioError.self) { try Scenario(parsing: text) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test("what has no time is there before the first client, the rest happens at its time")
  func plays() async throws {
    let text = """
      {"device":\(Self.device)}
      {"fault":{"kind":"answer","status":500,"reason":"InternalServerError"}}
      {"at_ms":2000,"fault":{"kind":"goaway","now":true,"debug":"over"}}
      """
    let scenario = try Scenario(parsing: text)
    try await SimulatorScene.play({ $0.scenario = scenario }) { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken(), to: "00ff")
      #expect(await connection.outcome(of: push, on: reactor) == #"500 {"reason":"InternalServerError"}"#)
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      // Unanswered, it lasts until the GOAWAY has ended the connection.
      scene.script(.blackHole)
      _ = await connection.outcome(of: push, within: .seconds(30), on: reactor)
      #expect(scene.service.metFaults.map(\.kind) == ["answer", "black_hole", "goaway"])
    }
  }
}
