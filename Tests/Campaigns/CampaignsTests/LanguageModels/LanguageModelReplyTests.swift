import PushRules
import PushStore
import Simulators
import Testing

@testable import Campaigns

@Suite("Replies of language models", .timeLimit(.minutes(5)))
struct LanguageModelReplyTests {
  @Test("have their text and what they cost", arguments: LanguageModelProvider.allCases)
  func reply(_ provider: LanguageModelProvider) async throws {
    try await ModelRig.run(ModelScript(.init(.reply("Hello, Ada"))), provider) { rig in
      let reply = await rig.reply()
      #expect(reply.text == .success("Hello, Ada"))
      // 18 and 24 characters, and 10.
      #expect(reply.usage == CampaignUsage(inputTokens: 5 + 6, outputTokens: 3))
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
      let reply = await rig.reply()
      #expect(reply.text == .success("Hello, Ada"))
      #expect(reply.usage == CampaignUsage(inputTokens: 7, outputTokens: 3))
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
      let reply = await rig.reply()
      #expect(reply.text == .success("Hi"))
      #expect(reply.usage == nil)
    }
  }

  @Test(
    "cost what a provider may mean, whatever it says",
    arguments: [
      (Int.max, CampaignUsage.tokensMax), (.min, 0), (-1, 0), (10_000_001, 10_000_000), (10_000_000, 10_000_000),
      (0, 0),
    ])
  func usageBounds(_ said: Int, _ counted: Int) async throws {
    let usage = #"{"input_tokens":\#(said),"output_tokens":\#(said)}"#
    let content = #"{"content":[{"type":"text","text":"Hi"}],"usage":\#(usage)}"#
    try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
      let reply = await rig.reply()
      #expect(reply.usage?.inputTokens == counted && reply.usage?.outputTokens == counted)
    }
    let other = #"{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":\#(said)}}"#
    try await ModelRig.run(ModelScript(.init(.raw(other))), .openAICompatible) { rig in
      let reply = await rig.reply()
      #expect(reply.usage?.inputTokens == counted)
    }
  }

  @Test(
    "whose cost is no whole number have none that is known",
    arguments: ["1e308", "9223372036854775808", "-1e300", "1.5"])
  func strangeUsage(_ said: String) async throws {
    let content = #"{"content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":\#(said),"output_tokens":1}}"#
    try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
      #expect(await rig.reply().usage == nil)
    }
  }

  @Test("come over a new connection when the kept one turns out to be closed")
  func staleConnection() async throws {
    try await ModelRig.run(ModelScript(.init(.reply("One")), .init(.close), .init(.reply("Two")))) { rig in
      let texts = [try await rig.reply().text.get(), try await rig.reply().text.get()]
      #expect(texts == ["One", "Two"])
    }
  }

  @Test("that the simulator writes of a decision are a push")
  func decision() async throws {
    let prompt = ModelPrompt(
      instructions: "Write JSON.",
      material: "<decision>\ntype: event_based\nevent: presentation\nwhen: tomorrow\n</decision>")
    try await ModelRig.run { rig in
      let text = try await rig.reply(prompt).text.get()
      #expect(text.contains(#""title":"Your presentation is tomorrow""#))
    }
  }
}

@Suite("Failures of language models", .timeLimit(.minutes(5)))
struct LanguageModelFailureTests {
  private static func reply(
    _ answer: ScriptedModelAnswer, _ provider: LanguageModelProvider = .anthropicMessages
  ) async throws -> LanguageModelReply {
    var found: LanguageModelReply?
    try await ModelRig.run(ModelScript(.init(answer)), provider) { rig in
      found = await rig.reply()
      #expect(rig.model.statistics.total == 1)
    }
    return try #require(found)
  }

  @Test(
    "a status has its meaning; a redirect is not followed",
    arguments: [
      (302, LanguageModelError.unusableReply), (400, .refusedRequest), (401, .refusedRequest),
      (404, .refusedRequest), (413, .refusedRequest), (428, .refusedRequest), (429, .rateLimited),
      (430, .refusedRequest), (499, .refusedRequest), (500, .serverFailure), (502, .serverFailure),
      (503, .overloaded), (504, .serverFailure), (528, .serverFailure), (529, .overloaded), (530, .serverFailure),
    ], LanguageModelProvider.allCases)
  func statuses(_ case: (Int, LanguageModelError), _ provider: LanguageModelProvider) async throws {
    let answer = ScriptedModelAnswer.failure(status: `case`.0, fields: ["location": "/"])
    #expect(try await Self.reply(answer, provider).error == `case`.1)
  }

  @Test(
    "content that is none of the interface's cannot be used",
    arguments: [
      "", "Hello", "{", "[]", "{}", "null", #"{"content":"Hello"}"#, #"{"content":[{"text":"Hello"}]}"#,
      #"{"content":[]}"#, #"{"content":[{"type":"image"}]}"#, #"{"choices":[]}"#, #"{"choices":[{"message":{}}]}"#,
      #"{"choices":[{}]}"#, #"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#,
    ], LanguageModelProvider.allCases)
  func shapes(_ content: String, _ provider: LanguageModelProvider) async throws {
    #expect(try await Self.reply(.raw(content), provider).error == .unusableReply)
  }

  @Test(
    "a reply without a word cannot be used, one that was cut off is none, and a model may decline: all are paid for",
    arguments: [
      (.reply(" \n\t"), .unusableReply, 1), (.cut("Hello, Ada"), .truncatedReply, 150),
      (.reply(String(repeating: "Hello ", count: 150)), .truncatedReply, 150), (.refusal, .declined, 1),
    ] as [(ScriptedModelAnswer, LanguageModelError, Int)], LanguageModelProvider.allCases)
  func paid(_ case: (ScriptedModelAnswer, LanguageModelError, Int), _ provider: LanguageModelProvider) async throws {
    let reply = try await Self.reply(`case`.0, provider)
    #expect(reply.error == `case`.1)
    #expect(reply.usage == CampaignUsage(inputTokens: 11, outputTokens: `case`.2))
  }

  @Test("a model's refusal in words is one")
  func refusalText() async throws {
    let content = #"{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}"#
    #expect(try await Self.reply(.raw(content), .openAICompatible).error == .declined)
  }

  @Test("an answer may be as large as any reply is, and no larger")
  func size() async throws {
    let padding = LanguageModelClient.answerBytesMax - #"{"content":[{"type":"text","text":"Hi"}]}"#.utf8.count
    for excess in [0, 1] {
      let spaces = String(repeating: " ", count: padding + excess)
      let content = #"{"content":[{"type":"text","text":"Hi"}]\#(spaces)}"#
      try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
        #expect(await rig.reply().error == (excess == 0 ? nil : .replyTooLarge))
      }
    }
  }

  @Test("a connection that ends without an answer is lost")
  func hangUp() async throws {
    #expect(try await Self.reply(.close).error == .connectionLost)
  }

  @Test("a model that says nothing is not asked again")
  func timeout() async throws {
    try await ModelRig.run(ModelScript(.init(.hang)), configure: { $0.deadline = .milliseconds(50) }) { rig in
      #expect(await rig.reply().error == .timedOut)
      #expect(rig.model.statistics.total <= 1)
    }
  }

  @Test(
    "where nobody listens, nobody is reached, and what is no web address is not asked",
    arguments: [
      ("http://127.0.0.1:1", .unreachable), ("http://nobody.invalid", .unreachable), ("", .unusableAddress),
      ("models", .unusableAddress), ("ftp://127.0.0.1", .unusableAddress),
    ] as [(String, LanguageModelError)])
  func addresses(_ base: String, _ code: LanguageModelError) async throws {
    try await ModelRig.run(configure: { $0.baseURL = base }) { rig in #expect(await rig.reply().error == code) }
  }

  @Test("a wrong key is refused", arguments: LanguageModelProvider.allCases)
  func key(_ provider: LanguageModelProvider) async throws {
    try await ModelRig.run(ModelScript(), provider, configure: { $0.key = Secret("another") }) { rig in
      #expect(await rig.reply().error == .refusedRequest)
    }
  }
}

@Suite("What language models are told stays with them", .timeLimit(.minutes(5)))
struct SecrecyTests {
  private static let prompt = ModelPrompt(instructions: "instructions-41", material: "material-42")
  private static let secrets = [ModelRig.key, prompt.instructions, prompt.material, "reply-43"]

  /// Everything that can be got out of a value without asking for its parts.
  private static func expectSilence(_ value: some Any, _ comment: String) {
    var text = "\(value) \(String(reflecting: value))"
    dump(value, to: &text)
    for secret in secrets { #expect(!text.contains(secret), "\(comment): \(text)") }
  }

  @Test("no description of a key, a configuration, a prompt or a reply tells it")
  func values() {
    Self.expectSilence(Secret(ModelRig.key), "key")
    Self.expectSilence(ModelRig.configuration(.anthropicMessages, at: "http://127.0.0.1"), "configuration")
    Self.expectSilence(Self.prompt, "prompt")
    Self.expectSilence(LanguageModelReply(text: .success("reply-43")), "reply")
  }

  @Test(
    "no failure tells it",
    arguments: [
      ScriptedModelAnswer.failure(status: 401, type: "reply-43"), .failure(status: 500),
      .cut("reply-43 and more of it"),
      .raw("reply-43"), .raw(#"{"error":{"type":"reply-43"}}"#), .refusal, .close, .reply(""),
    ])
  func failures(_ answer: ScriptedModelAnswer) async throws {
    for provider in LanguageModelProvider.allCases {
      try await ModelRig.run(ModelScript(.init(answer)), provider) { rig in
        Self.expectSilence(await rig.reply(Self.prompt), "\(provider)")
      }
    }
  }

  @Test("no failure to reach it tells it", arguments: ["http://127.0.0.1:1", "ftp://127.0.0.1"])
  func unreached(_ base: String) async throws {
    try await ModelRig.run(configure: { $0.baseURL = base }) { rig in
      Self.expectSilence(await rig.reply(Self.prompt), base)
    }
  }
}
