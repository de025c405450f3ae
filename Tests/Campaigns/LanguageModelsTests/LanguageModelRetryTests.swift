import LanguageModelSimulation
import Testing

@testable import LanguageModels

@Suite("Second requests to language models", .timeLimit(.minutes(1)))
struct LanguageModelRetryTests {
  private static func script(_ status: Int, _ fields: [String: String], times: Int = 1) -> ModelScript {
    ModelScript(.init(.failure(status: status, fields: fields), times: times), .init(.reply("Hello")))
  }

  private static func result(_ script: ModelScript) async throws -> (text: String?, error: LanguageModelError?) {
    var result: (String?, LanguageModelError?) = (nil, nil)
    try await ModelRig.run(script) { rig in
      let reply = await rig.reply()
      result = (try? reply.get().text, reply.error)
      #expect(rig.model.statistics.total == (try? reply.get().attempts) ?? reply.error?.attempts)
    }
    return result
  }

  @Test("are made where the provider says when", arguments: [408, 409, 429, 500, 503, 529])
  func statuses(_ status: Int) async throws {
    let result = try await Self.result(Self.script(status, ["retry-after": "0"]))
    #expect(result.text == "Hello")
  }

  @Test(
    "are made when it says so in any way",
    arguments: [
      ["retry-after": "0.01"], ["retry-after-ms": "10"], ["retry-after-ms": "1", "retry-after": "60"],
      ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"], ["retry-after": "0", "x-should-retry": "true"],
    ])
  func ways(_ fields: [String: String]) async throws {
    #expect(try await Self.result(Self.script(429, fields)).text == "Hello")
  }

  @Test(
    "are not made otherwise",
    arguments: [
      [:], ["x-should-retry": "true"], ["retry-after": "0", "x-should-retry": "false"], ["retry-after": "5.001"],
      ["retry-after": "3600"], ["retry-after-ms": "5001"], ["retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"],
      ["retry-after": "soon"], ["retry-after": "-1"], ["retry-after": ""],
    ])
  func others(_ fields: [String: String]) async throws {
    let error = try #require(try await Self.result(Self.script(429, fields)).error)
    #expect(error.code == .rateLimited)
    #expect(error.attempts == 1)
  }

  @Test("are not made of what stays wrong", arguments: [400, 401, 403, 404, 413, 422])
  func lasting(_ status: Int) async throws {
    let error = try #require(try await Self.result(Self.script(status, ["retry-after": "0"])).error)
    #expect(error.code == .refusedRequest)
    #expect(error.attempts == 1)
  }

  @Test("are the last ones, whatever the answer to them says")
  func twice() async throws {
    let error = try #require(try await Self.result(Self.script(429, ["retry-after": "0"], times: 2)).error)
    #expect(error.code == .rateLimited)
    #expect(error.attempts == 2)
  }

  @Test("have the whole time again, after the wait that was asked for")
  func deadline() async throws {
    let script = Self.script(529, ["retry-after-ms": "1100"])
    try await ModelRig.run(script, configure: { $0.deadline = .seconds(1) }) { rig in
      let clock = ContinuousClock()
      var reply: LanguageModelReply?
      let time = try await clock.measure { reply = try await rig.reply().get() }
      #expect(reply?.attempts == 2)
      #expect(time >= .milliseconds(1100))
    }
  }

  @Test("tell what went wrong with them")
  func secondFailure() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "0"])), .init(.cut("Hello")))
    let error = try #require(try await Self.result(script).error)
    #expect(error.code == .truncatedReply)
    #expect(error.attempts == 2)
    #expect(error.usage?.outputTokens == 150)
  }
}
