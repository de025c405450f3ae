import FoundationEssentials
import HTTPTypes
import Simulators
import Testing

@Suite("The control endpoint of simulated models", .timeLimit(.minutes(1)))
struct ModelControlRoutesTests {
  private struct Requests: Decodable {
    let requests: [RequestRecord]
    let inFlightMax: Int

    enum CodingKeys: String, CodingKey {
      case requests
      case inFlightMax = "in_flight_max"
    }
  }

  private static func requests(_ rig: SimulatorRig) async throws -> Requests {
    let text = try #require(await rig.send(.get, "/simulator/requests")).text
    return try JSONDecoder().decode(Requests.self, from: Data(text.utf8))
  }

  @Test("a script is played from its beginning once it is there")
  func script() async throws {
    try await SimulatorRig.run { rig in
      let script = #"{"rules":[{"steps":[{"kind":"failure","status":529},{"text":"Hello"}]}]}"#
      for _ in 0..<2 {
        #expect(await rig.send(.put, "/simulator/script", [:], script)?.status == 204)
        #expect(await rig.message()?.status == 529)
        #expect(await rig.completion()?.text.contains(#""content":"Hello""#) == true)
      }
      #expect(await rig.send(.put, "/simulator/script", [:], "{")?.status == 400)
      #expect(await rig.message()?.status == 200)
    }
  }

  @Test("requests are kept with what was answered, until they are forgotten")
  func records() async throws {
    // The close comes first: on a connection that was used before, libcurl would ask again by itself.
    let steps: [ModelScript.Step] = [
      .init(.close), .init(.failure(status: 429)), .init(.raw("x")), .init(.refusal), .init(.reply("Hello")),
    ]
    try await SimulatorRig.run({ $0.script = ModelScript(rules: [.init(steps: steps)]) }) { rig in
      var statuses: [Int?] = []
      for _ in steps { statuses.append(await rig.completion("Ada")?.status) }
      #expect(statuses == [nil, 429, 200, 200, 200])
      let page = try await Self.requests(rig)
      #expect(page.requests.map(\.number) == [1, 2, 3, 4, 5])
      #expect(page.requests.map(\.provider) == Array(repeating: .openai, count: 5))
      #expect(page.requests.map(\.material) == Array(repeating: "Ada", count: 5))
      #expect(page.requests.map(\.answered?.kind) == ["close", "failure", "raw", "refusal", "reply"])
      #expect(page.requests.last?.answered?.text == "Hello")
      #expect(page.inFlightMax == 1)
      #expect(await rig.send(.delete, "/simulator/requests")?.status == 204)
      #expect(try await Self.requests(rig).requests == [])
      #expect(rig.model.statistics.total == 0)
    }
  }

  @Test("only the newest requests are kept, and all are counted")
  func bound() async throws {
    try await SimulatorRig.run({ $0.recordsMax = 2 }) { rig in
      for _ in 0..<3 { #expect(await rig.message()?.status == 200) }
      #expect(try await Self.requests(rig).requests.map(\.number) == [2, 3])
      let text = try #require(await rig.send(.get, "/simulator/stats")).text
      let statistics = try JSONDecoder().decode(RequestStatistics.self, from: Data(text.utf8))
      #expect(statistics == rig.model.statistics)
      #expect(statistics.total == 3)
      #expect(statistics.providers == ["anthropic": 3])
      #expect(statistics.answers == ["reply": 3])
      #expect(statistics.inputTokens == 6)
    }
  }

  @Test("what hangs is answered when it is released")
  func release() async throws {
    try await SimulatorRig.run({ $0.script = ModelScript(.init(.hang)) }) { rig in
      async let first = rig.message()
      async let second = rig.completion()
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(20)))
      #expect(rig.model.statistics.inFlightMax == 2)
      var released = 0
      while released < 2 { released += rig.model.release() }
      #expect(await first?.status == 200)
      #expect(await second?.status == 200)
      #expect(await rig.send(.post, "/simulator/release")?.text == #"{"released":0}"#)
      #expect(rig.model.statistics.inFlight == 0)
    }
  }

  @Test("what hangs or waits when the simulator stops is hung up on")
  func stop() async throws {
    let steps: [ModelScript.Step] = [.init(.hang), .init(.reply("Hello"), delayMilliseconds: 60_000)]
    try await SimulatorRig.run({ $0.script = ModelScript(rules: [.init(steps: steps)]) }) { rig in
      async let first = rig.message()
      async let second = rig.message()
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(20)))
      await rig.simulator.stop()
      #expect(await first == nil)
      #expect(await second == nil)
    }
  }

  @Test("an answer takes as long as the simulator's delay and the step's together")
  func delay() async throws {
    try await SimulatorRig.run({
      $0.delayMilliseconds = 20
      $0.script = ModelScript(.init(.reply("Hello"), delayMilliseconds: 30))
    }) { rig in
      let time = await ContinuousClock().measure { _ = await rig.message() }
      #expect(time >= .milliseconds(50))
    }
  }

  @Test("nobody waits in vain for requests that do not come")
  func waiting() async throws {
    try await SimulatorRig.run { rig in
      #expect(await rig.simulator.waitForRequests(0, within: .seconds(20)))
      #expect(await !rig.simulator.waitForRequests(1, within: .milliseconds(1)))
    }
  }
}
