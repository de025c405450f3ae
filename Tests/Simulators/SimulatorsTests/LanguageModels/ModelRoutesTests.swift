import HTTPTypes
import Simulators
import Testing

@Suite("The interfaces of simulated models", .timeLimit(.minutes(1)))
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
