import Simulators
import Testing

@testable import Campaigns

@Suite("What language models are told stays with them", .timeLimit(.minutes(1)))
struct SecrecyTests {
  private static let prompt = LanguageModelPrompt(instructions: "instructions-41", material: "material-42")
  private static let secrets = [ModelRig.key, prompt.instructions, prompt.material, "reply-43"]

  /// Everything that can be got out of a value without asking for its parts.
  private static func expectSilence(_ value: some Any, _ comment: String) {
    var text = "\(value) \(String(reflecting: value))"
    dump(value, to: &text)
    for secret in secrets { #expect(!text.contains(secret), "\(comment): \(text)") }
  }

  @Test("no description of a key, a configuration, a prompt or a reply tells it")
  func values() {
    Self.expectSilence(LanguageModelKey(ModelRig.key), "key")
    Self.expectSilence(ModelRig.configuration(.anthropicMessages, at: "http://127.0.0.1"), "configuration")
    Self.expectSilence(Self.prompt, "prompt")
    Self.expectSilence(LanguageModelReply(text: "reply-43", usage: nil, attempts: 1), "reply")
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
        Self.expectSilence(try #require(await rig.reply(Self.prompt).error), "\(provider)")
      }
    }
  }

  @Test("no failure to reach it tells it", arguments: ["http://127.0.0.1:1", "ftp://127.0.0.1"])
  func unreached(_ base: String) async throws {
    try await ModelRig.run(configure: { $0.baseURL = base }) { rig in
      Self.expectSilence(try #require(await rig.reply(Self.prompt).error), base)
    }
  }
}
