import FoundationEssentials
import HTTPTypes
import Reactors
import Simulators
import TestLogs
import Testing

@Suite("The interfaces of simulated models", .timeLimit(.minutes(5)))
struct ModelRoutesTests {
  private static let message = #"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}"#
  private static let user = #""messages":[{"role":"user","content":"Hello"}]}"#
  private static let completion = #"{"model":"m","messages":[{"role":"user","content":"Hello"}]}"#

  @Test("Anthropic's answer has its documented members")
  func messageShape() async throws {
    try await SimulatorRig.run({ $0.script = ModelScript(.init(.reply("Hello, Ada"))) }) { rig in
      let answer = try #require(await rig.message())
      #expect(answer.status == 200)
      #expect(answer.fields[.contentType] == "application/json")
      #expect(answer.fields[try #require(HTTPField.Name("request-id"))] == "req_sim_1")
      #expect(
        answer.text == #"{"content":[{"text":"Hello, Ada","type":"text"}],"id":"msg_sim_1","model":"m","#
          + #""role":"assistant","stop_reason":"end_turn","stop_sequence":null,"type":"message","#
          + #""usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"#
          + #""input_tokens":2,"output_tokens":3}}"#)
    }
  }

  @Test("OpenAI's answer has its documented members")
  func completionShape() async throws {
    try await SimulatorRig.run({ $0.script = ModelScript(.init(.reply("Hello, Ada"))) }) { rig in
      let answer = try #require(await rig.completion())
      #expect(answer.status == 200)
      #expect(
        answer.text.replacing(/"created":\d+/, with: #""created":0"#)
          == #"{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"Hello, Ada","role":"assistant"}}],"#
          + #""created":0,"id":"chatcmpl-sim-1","model":"m","object":"chat.completion","#
          + #""usage":{"completion_tokens":3,"prompt_tokens":2,"total_tokens":5}}"#)
    }
  }

  @Test("what is refused is told as the providers do")
  func failureShapes() async throws {
    try await SimulatorRig.run({ $0.script = ModelScript(models: ["m"]) }) { rig in
      let message = try #require(await rig.message(model: "another"))
      #expect(message.status == 404)
      #expect(
        message.text == #"{"error":{"message":"there is no such model","type":"not_found_error"},"#
          + #""request_id":"req_sim_1","type":"error"}"#)
      let completion = try #require(await rig.completion(model: "another"))
      #expect(completion.status == 404)
      #expect(
        completion.text == #"{"error":{"code":"model_not_found","message":"there is no such model","#
          + #""type":"invalid_request_error"}}"#)
      #expect(rig.model.statistics.refused == ["anthropic 404": 1, "openai 404": 1])
      #expect(rig.model.requests == [])
    }
  }

  @Test(
    "fields that are missing or wrong are told",
    arguments: [
      ("/v1/messages", "x-api-key", nil, 401), ("/v1/messages", "x-api-key", "", 401),
      ("/v1/messages", "x-api-key", "another", 401), ("/v1/messages", "anthropic-version", nil, 400),
      ("/v1/messages", "anthropic-version", "2022-01-01", 400), ("/v1/messages", "content-type", nil, 400),
      ("/v1/messages", "content-type", "text/plain", 400), ("/v1/messages", "x-other", "any", 200),
      ("/v1/chat/completions", "authorization", nil, 401), ("/v1/chat/completions", "authorization", "a-key", 401),
      ("/v1/chat/completions", "authorization", "Basic a-key", 401),
      ("/v1/chat/completions", "authorization", "Bearer another", 401),
      ("/v1/chat/completions", "authorization", "bearer a-key", 200),
      ("/v1/chat/completions", "content-type", nil, 400),
    ])
  func fields(_ path: String, _ name: String, _ value: String?, _ status: Int) async throws {
    try await SimulatorRig.run({ $0.key = "a-key" }) { rig in
      let isAnthropic = path == "/v1/messages"
      var fields = isAnthropic ? SimulatorRig.anthropic : SimulatorRig.openAI
      fields[name] = value
      let answer = await rig.send(.post, path, fields, isAnthropic ? Self.message : Self.completion)
      #expect(answer?.status == status)
    }
  }

  @Test(
    "content that Anthropic would refuse is refused, with what is wrong",
    arguments: [
      ("", ""), ("{", ""), ("[]", "wrong type"), ("{}", "model is missing"),
      (#"{"model":"m",\#(user)"#, "max_tokens is missing"),
      (#"{"model":"m","max_tokens":0,\#(user)"#, "max_tokens is a number from 1"),
      (#"{"model":"m","max_tokens":"9",\#(user)"#, "max_tokens has the wrong type"),
      (#"{"model":"m","max_tokens":9}"#, "messages is missing"),
      (#"{"model":"m","max_tokens":9,"messages":[]}"#, "no text"),
      (#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":""}]}"#, "no text"),
      (#"{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"Hello"}]}"#, "role system"),
      (#"{"model":"m","max_tokens":9,"messages":[{"role":"user"}]}"#, "messages.item 1.content is missing"),
      (#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image"}]}]}"#, "blocks of text"),
      (#"{"model":"m","max_tokens":9,"stream":true,\#(user)"#, "streams"),
      (#"{"model":"m","max_tokens":9,"max_token":9,\#(user)"#, "max_token is none"),
    ])
  func malformedMessages(_ body: String, _ detail: String) async throws {
    try await SimulatorRig.run { rig in
      let answer = try #require(await rig.send(.post, "/v1/messages", SimulatorRig.anthropic, body))
      #expect(answer.status == 400)
      #expect(answer.text.contains(#""type":"invalid_request_error""#))
      #expect(detail.isEmpty || answer.text.contains(detail), "\(answer.text)")
    }
  }

  @Test(
    "content that OpenAI would refuse is refused, with what is wrong",
    arguments: [
      ("{", ""), ("{}", "model is missing"), (#"{"model":"m","messages":[]}"#, "no text"),
      (#"{"model":"m","system":"s",\#(user)"#, "system is none"),
      (#"{"model":"m","max_tokens":0,\#(user)"#, "max_tokens is a number from 1"),
      (#"{"model":"m","messages":[{"role":"robot","content":"Hello"}]}"#, "role robot"),
    ])
  func malformedCompletions(_ body: String, _ detail: String) async throws {
    try await SimulatorRig.run { rig in
      let answer = try #require(await rig.send(.post, "/v1/chat/completions", SimulatorRig.openAI, body))
      #expect(answer.status == 400)
      #expect(answer.text.contains(detail), "\(answer.text)")
    }
  }

  @Test("a prompt is read in each of its forms")
  func forms() async throws {
    try await SimulatorRig.run { rig in
      let message = """
        {"model":"m","max_tokens":9,"system":[{"type":"text","text":"a"}],"messages":[
        {"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
        {"role":"assistant","content":"d"},{"role":"user","content":"e"}]}
        """
      #expect(await rig.send(.post, "/v1/messages", SimulatorRig.anthropic, message)?.status == 200)
      let completion = """
        {"model":"m","max_completion_tokens":9,"messages":[{"role":"system","content":"a"},
        {"role":"user","content":"bc"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}
        """
      #expect(await rig.send(.post, "/v1/chat/completions", SimulatorRig.openAI, completion)?.status == 200)
      #expect(rig.model.requests.map(\.instructions) == ["a", "a"])
      #expect(rig.model.requests.map(\.material) == ["bc\ne", "bc\ne"])
      #expect(rig.model.requests.map(\.tokensMax) == [9, 9])
    }
  }

  @Test("a reply ends where its tokens do")
  func tokens() async throws {
    try await SimulatorRig.run({ $0.script = ModelScript(.init(.reply("12345678"))) }) { rig in
      let whole = try #require(await rig.message(tokensMax: 2))
      #expect(whole.text.contains(#""stop_reason":"end_turn""#))
      let cut = try #require(await rig.message(tokensMax: 1))
      #expect(cut.text.contains(#""text":"1234","#))
      #expect(cut.text.contains(#""stop_reason":"max_tokens""#))
      #expect(try #require(await rig.completion(tokensMax: 1)).text.contains(#""finish_reason":"length""#))
    }
  }
}

@Suite("The control endpoint of simulated models", .timeLimit(.minutes(5)))
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
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(60)))
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
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(60)))
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

/// A simulator and a client that asks it anything.
struct SimulatorRig {
  static let anthropic = [
    "x-api-key": "a-key", "anthropic-version": "2023-06-01", "content-type": "application/json",
  ]
  static let openAI = ["authorization": "Bearer a-key", "content-type": "application/json"]

  let simulator: LanguageModelSimulator
  private let client: SimulatorClient
  var model: SimulatedModel { simulator.model }

  static func run(
    _ configure: (inout LanguageModelSimulatorConfiguration) -> Void = { _ in },
    _ test: (SimulatorRig) async throws -> Void
  ) async throws {
    var configuration = LanguageModelSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    configure(&configuration)
    try await SimulatorClient.run(
      { try await LanguageModelSimulator.start(configuration, on: $0) }, stop: { await $0.stop() }
    ) { try await test(SimulatorRig(simulator: $0, client: $1)) }
  }

  /// Sends a request; nil when the connection ends without an answer.
  func send(
    _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], _ body: String? = nil
  ) async -> SimulatorClient.Answer? {
    var all = HTTPFields()
    for (name, value) in fields { if let name = HTTPField.Name(name) { all[name] = value } }
    return await client.send(method, simulator.origin + path, all, body.map { Array($0.utf8) })
  }

  /// Asks as Anthropic's clients do.
  func message(_ material: String = "Hello", tokensMax: Int = 100, model: String = "m") async -> SimulatorClient.Answer?
  {
    await send(.post, "/v1/messages", Self.anthropic, Self.body(material, tokensMax, model))
  }

  /// Asks as OpenAI's clients do.
  func completion(_ material: String = "Hello", tokensMax: Int = 100, model: String = "m") async -> SimulatorClient
    .Answer?
  {
    await send(.post, "/v1/chat/completions", Self.openAI, Self.body(material, tokensMax, model))
  }

  /// What both take.
  private static func body(_ material: String, _ tokensMax: Int, _ model: String) -> String {
    let messages = #"[{"role":"user","content":"\#(material)"}]"#
    return #"{"model":"\#(model)","max_tokens":\#(tokensMax),"messages":\#(messages)}"#
  }
}
