import Simulators
import Testing

@testable import Campaigns

@Suite("Replies of language models", .timeLimit(.minutes(1)))
struct LanguageModelReplyTests {
  @Test("have their text and what they cost", arguments: LanguageModelProvider.allCases)
  func reply(_ provider: LanguageModelProvider) async throws {
    try await ModelRig.run(ModelScript(.init(.reply("Hello, Ada"))), provider) { rig in
      let reply = try await rig.reply().get()
      #expect(reply.text == "Hello, Ada")
      // 18 and 24 characters, and 10.
      #expect(reply.usage == LanguageModelUsage(inputTokens: 5 + 6, outputTokens: 3))
      #expect(reply.attempts == 1)
      let record = try #require(rig.model.requests.first)
      #expect(record.instructions == ModelRig.prompt.instructions)
      #expect(record.material == ModelRig.prompt.material)
      #expect(record.model == LanguageModelConfiguration.modelDefault)
      #expect(record.tokensMax == 150)
    }
  }

  @Test("of several blocks are put together, and what is no text is left out")
  func blocks() async throws {
    let content = """
      {"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Hello, "},
      {"type":"text","text":"Ada"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3}}
      """
    try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
      let reply = try await rig.reply().get()
      #expect(reply.text == "Hello, Ada")
      #expect(reply.usage == LanguageModelUsage(inputTokens: 7, outputTokens: 3))
    }
  }

  @Test(
    "come without what they cost, too, and without a reason for their end",
    arguments: [
      (LanguageModelProvider.anthropicMessages, #"{"content":[{"type":"text","text":"Hi"}]}"#),
      (.openAICompatible, #"{"choices":[{"message":{"content":"Hi"}}]}"#),
      (.openAICompatible, #"{"choices":[{"message":{"content":"Hi"},"finish_reason":"eos"}],"usage":null}"#),
    ])
  func bare(_ provider: LanguageModelProvider, _ content: String) async throws {
    try await ModelRig.run(ModelScript(.init(.raw(content))), provider) { rig in
      let reply = try await rig.reply().get()
      #expect(reply.text == "Hi")
      #expect(reply.usage == nil)
    }
  }

  @Test(
    "cost what a provider may mean, whatever it says",
    arguments: [
      (Int.max, LanguageModelUsage.tokensMax), (.min, 0), (-1, 0), (10_000_001, 10_000_000), (10_000_000, 10_000_000),
      (0, 0),
    ])
  func usageBounds(_ said: Int, _ counted: Int) async throws {
    let usage = #"{"input_tokens":\#(said),"output_tokens":\#(said)}"#
    let content = #"{"content":[{"type":"text","text":"Hi"}],"usage":\#(usage)}"#
    try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
      let reply = try await rig.reply().get()
      #expect(reply.usage?.inputTokens == counted && reply.usage?.outputTokens == counted)
    }
    let other = #"{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":\#(said)}}"#
    try await ModelRig.run(ModelScript(.init(.raw(other))), .openAICompatible) { rig in
      let reply = try await rig.reply().get()
      #expect(reply.usage?.inputTokens == counted)
    }
  }

  @Test("whose cost is no whole number are unusable", arguments: ["1e308", "9223372036854775808", "-1e300", "1.5"])
  func strangeUsage(_ said: String) async throws {
    let content = #"{"content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":\#(said),"output_tokens":1}}"#
    try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
      let result = await rig.reply()
      #expect(throws: LanguageModelError.self) { try result.get() }
    }
  }

  @Test("come over a new connection when the kept one turns out to be closed")
  func staleConnection() async throws {
    try await ModelRig.run(ModelScript(.init(.reply("One")), .init(.close), .init(.reply("Two")))) { rig in
      #expect(try await rig.reply().get().text == "One")
      let second = try await rig.reply().get()
      #expect(second.text == "Two")
      #expect(second.attempts == 1)
    }
  }

  @Test("that the simulator writes of a decision are a push")
  func decision() async throws {
    let prompt = LanguageModelPrompt(
      instructions: "Write JSON.",
      material: "<decision>\ntype: event_based\nevent: presentation\nwhen: tomorrow\n</decision>")
    try await ModelRig.run { rig in
      let text = try await rig.reply(prompt).get().text
      #expect(text.contains(#""title":"Your presentation is tomorrow""#))
    }
  }
}
