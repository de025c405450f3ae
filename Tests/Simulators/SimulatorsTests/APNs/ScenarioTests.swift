import HTTP2
import Reactors
import Testing

@testable import Simulators

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
      {"at_ms":300,"fault":{"kind":"goaway","now":true,"debug":"over"}}
      """
    let scenario = try Scenario(parsing: text)
    try await SimulatorScene.play({ $0.scenario = scenario }) { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken(), to: "00ff")
      #expect(await connection.outcome(of: push, on: reactor) == #"500 {"reason":"InternalServerError"}"#)
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      // Unanswered, it lasts until the GOAWAY has ended the connection.
      scene.script(.blackHole)
      _ = await connection.outcome(of: push, within: .seconds(1), on: reactor)
      #expect(scene.service.metFaults.map(\.kind) == ["answer", "black_hole", "goaway"])
    }
  }
}
