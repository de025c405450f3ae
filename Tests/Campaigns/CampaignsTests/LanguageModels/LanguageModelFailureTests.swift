import Simulators
import Testing

@testable import Campaigns

@Suite("Failures of language models", .timeLimit(.minutes(1)))
struct LanguageModelFailureTests {
  private static func error(
    _ answer: ScriptedModelAnswer, _ provider: LanguageModelProvider = .anthropicMessages
  ) async throws -> LanguageModelError {
    var found: LanguageModelError?
    try await ModelRig.run(ModelScript(.init(answer)), provider) { rig in
      found = await rig.reply().error
      #expect(rig.model.statistics.total == 1)
    }
    let error = try #require(found)
    #expect(error.attempts == 1)
    return error
  }

  @Test(
    "a status has its meaning and the provider's word",
    arguments: [
      (400, LanguageModelError.Code.refusedRequest, "invalid_request_error"),
      (401, .refusedRequest, "authentication_error"), (403, .refusedRequest, "permission_error"),
      (404, .refusedRequest, "not_found_error"), (413, .refusedRequest, "request_too_large"),
      (429, .rateLimited, "rate_limit_error"), (500, .serverFailure, "api_error"),
      (503, .overloaded, "api_error"), (504, .serverFailure, "timeout_error"),
      (529, .overloaded, "overloaded_error"),
    ])
  func statuses(_ status: Int, _ code: LanguageModelError.Code, _ type: String) async throws {
    let error = try await Self.error(.failure(status: status))
    #expect(error.code == code)
    #expect(error.status == status)
    #expect(error.providerType == type)
    #expect(error.description == "\(code.sentence) (\(status), \(type))")
  }

  @Test(
    "OpenAI's more exact word is taken where there is one",
    arguments: [(404, "model_not_found"), (429, "rate_limit_exceeded"), (500, "server_error")])
  func words(_ status: Int, _ type: String) async throws {
    #expect(try await Self.error(.failure(status: status), .openAICompatible).providerType == type)
  }

  @Test(
    "a word that is no word of a provider is left out",
    arguments: ["", "Overloaded", "a b", "a-b", "401", String(repeating: "a", count: 65), "you said: ada"])
  func strangeWords(_ type: String) async throws {
    #expect(try await Self.error(.failure(status: 500, type: type)).providerType == nil)
  }

  @Test("a redirect is not followed")
  func redirect() async throws {
    let error = try await Self.error(.failure(status: 302, fields: ["location": "/"]))
    #expect(error.code == .unusableReply)
    #expect(error.status == 302)
  }

  @Test(
    "content that is none of the interface's cannot be used",
    arguments: [
      "", "Hello", "{", "[]", "{}", "null", #"{"content":"Hello"}"#, #"{"content":[{"text":"Hello"}]}"#,
      #"{"content":[]}"#, #"{"content":[{"type":"image"}]}"#, #"{"choices":[]}"#, #"{"choices":[{"message":{}}]}"#,
      #"{"choices":[{}]}"#, #"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#,
    ], LanguageModelProvider.allCases)
  func shapes(_ content: String, _ provider: LanguageModelProvider) async throws {
    let error = try await Self.error(.raw(content), provider)
    #expect(error.code == .unusableReply)
    #expect(error.status == 200)
  }

  @Test("a reply without a word cannot be used, and is paid for", arguments: LanguageModelProvider.allCases)
  func blank(_ provider: LanguageModelProvider) async throws {
    let error = try await Self.error(.reply(" \n\t"), provider)
    #expect(error.code == .unusableReply)
    #expect(error.usage == LanguageModelUsage(inputTokens: 11, outputTokens: 1))
  }

  @Test("a reply that was cut off is none, and is paid for", arguments: LanguageModelProvider.allCases)
  func cut(_ provider: LanguageModelProvider) async throws {
    for answer in [ScriptedModelAnswer.cut("Hello, Ada"), .reply(String(repeating: "Hello ", count: 150))] {
      let error = try await Self.error(answer, provider)
      #expect(error.code == .truncatedReply)
      #expect(error.usage == LanguageModelUsage(inputTokens: 11, outputTokens: 150))
    }
  }

  @Test("a model may decline", arguments: LanguageModelProvider.allCases)
  func declined(_ provider: LanguageModelProvider) async throws {
    let error = try await Self.error(.refusal, provider)
    #expect(error.code == .declined)
    #expect(error.usage == LanguageModelUsage(inputTokens: 11, outputTokens: 1))
  }

  @Test("a model's refusal in words is one")
  func refusalText() async throws {
    let content = #"{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}"#
    #expect(try await Self.error(.raw(content), .openAICompatible).code == .declined)
  }

  @Test("an answer may be as large as any reply is, and no larger")
  func size() async throws {
    let padding = LanguageModelClient.answerBytesMax - #"{"content":[{"type":"text","text":"Hi"}]}"#.utf8.count
    for excess in [0, 1] {
      let spaces = String(repeating: " ", count: padding + excess)
      let content = #"{"content":[{"type":"text","text":"Hi"}]\#(spaces)}"#
      try await ModelRig.run(ModelScript(.init(.raw(content)))) { rig in
        #expect(await rig.reply().code == (excess == 0 ? nil : .replyTooLarge))
      }
    }
  }

  @Test("a connection that ends without an answer is lost")
  func hangUp() async throws {
    #expect(try await Self.error(.close).code == .connectionLost)
  }

  @Test("a model that says nothing is not asked again")
  func timeout() async throws {
    try await ModelRig.run(ModelScript(.init(.hang)), configure: { $0.deadline = .milliseconds(50) }) { rig in
      let error = try #require(await rig.reply().error)
      #expect(error.code == .timedOut)
      #expect(error.attempts == 1)
      #expect(rig.model.statistics.total <= 1)
    }
  }

  @Test("where nobody listens, nobody is reached", arguments: ["http://127.0.0.1:1", "http://nobody.invalid"])
  func unreachable(_ base: String) async throws {
    try await ModelRig.run(configure: { $0.baseURL = base }) { rig in
      #expect(await rig.reply().code == .unreachable)
    }
  }

  @Test("what is no web address is not asked", arguments: ["", "models", "ftp://127.0.0.1"])
  func addresses(_ base: String) async throws {
    try await ModelRig.run(configure: { $0.baseURL = base }) { rig in
      #expect(await rig.reply().code == .unusableAddress)
    }
  }

  @Test("a wrong key is refused", arguments: LanguageModelProvider.allCases)
  func key(_ provider: LanguageModelProvider) async throws {
    try await ModelRig.run(ModelScript(), provider, configure: { $0.key = LanguageModelKey("another") }) { rig in
      let error = try #require(await rig.reply().error)
      #expect(error.code == .refusedRequest)
      #expect(error.status == 401)
    }
  }

  @Test("every code has a word of its own for records")
  func reasons() {
    let reasons = LanguageModelError.Code.allCases.map { LanguageModelError($0).reason }
    #expect(Set(reasons).count == reasons.count)
    #expect(reasons.allSatisfy { $0.wholeMatch(of: /model_[a-z_]+/) != nil })
  }
}
