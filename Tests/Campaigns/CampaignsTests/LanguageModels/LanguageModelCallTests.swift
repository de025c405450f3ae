import PushStore
import Reactors
import Simulators
import TestReactors
import Testing

@testable import Campaigns

@Suite("Calls to language models at the same time", .timeLimit(.minutes(5)))
struct LanguageModelCloseTests {
  @Test("are broken off by a close, wherever they are, and none begins after it")
  func close() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "1"])), .init(.hang))
    try await ModelRig.run(script) { rig in
      let first = rig.start()
      try await until { rig.model.requests.first?.answered != nil }
      let other = rig.start()
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(60)))
      await rig.client.perform { $0.close(on: $1) }
      for call in [first, other] { #expect(await call.value.error == .closed) }
      #expect(await rig.reply().error == .closed)
    }
  }
}

@Suite("Calls to a language model with a limit of their own", .timeLimit(.minutes(5)))
struct LanguageModelLimitTests {
  private static func reply(_ rig: ModelRig, within limit: Duration) async -> LanguageModelError? {
    await rig.client.perform { client, reactor in
      await client.reply(to: ModelRig.prompt, within: limit, on: reactor).error
    }
  }

  @Test("end when it is over, and are not made again")
  func limit() async throws {
    let script = ModelScript(.init(.reply("Late"), delayMilliseconds: 10_000, times: 1), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      #expect(await Self.reply(rig, within: .milliseconds(200)) == .timedOut)
      #expect(await Self.reply(rig, within: .seconds(20)) == nil)
      // The first may have ended before it was heard.
      #expect((1...2).contains(rig.model.statistics.total))
    }
  }

  @Test("are not retried where the provider asks for a wait")
  func retry() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "0"])), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      #expect(await Self.reply(rig, within: .seconds(20)) == .rateLimited)
      #expect(rig.model.statistics.total == 1)
    }
  }
}

@Suite("Second requests to language models", .timeLimit(.minutes(5)))
struct LanguageModelRetryTests {
  private static func script(_ status: Int, _ fields: [String: String], times: Int = 1) -> ModelScript {
    ModelScript(.init(.failure(status: status, fields: fields), times: times), .init(.reply("Hello")))
  }

  /// What comes of a call, and of how many requests.
  private static func result(
    _ script: ModelScript
  ) async throws -> (reply: LanguageModelReply, requests: Int) {
    var result: (LanguageModelReply, Int)?
    try await ModelRig.run(script) { rig in result = (await rig.reply(), rig.model.statistics.total) }
    return try #require(result)
  }

  @Test(
    "are made when it says so, as seconds or as a date, and what went wrong may pass",
    arguments: [408, 409, 429, 500, 503, 529], ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
  func ways(_ status: Int, _ retryAfter: String) async throws {
    let result = try await Self.result(Self.script(status, ["retry-after": retryAfter]))
    #expect((try? result.reply.text.get()) == "Hello" && result.requests == 2)
  }

  @Test("are not made for a mistake in the first", arguments: [400, 401, 403, 404, 413, 422])
  func mistakes(_ status: Int) async throws {
    let result = try await Self.result(Self.script(status, ["retry-after": "0"]))
    #expect(result.reply.error == .refusedRequest && result.requests == 1)
  }

  @Test(
    "are not made without a time, and not when it is too long",
    arguments: [[:], ["retry-after": "6"], ["retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"], ["retry-after": "soon"]])
  func others(_ fields: [String: String]) async throws {
    let result = try await Self.result(Self.script(429, fields))
    #expect(result.reply.error == .rateLimited && result.requests == 1)
  }

  @Test("are the last ones, whatever the answer to them says")
  func twice() async throws {
    let result = try await Self.result(Self.script(429, ["retry-after": "0"], times: 2))
    #expect(result.reply.error == .rateLimited && result.requests == 2)
  }

  @Test("have the whole time again, after the wait that was asked for")
  func deadline() async throws {
    let script = Self.script(529, ["retry-after": "3"])
    try await ModelRig.run(script, configure: { $0.deadline = .seconds(3) }) { rig in
      let clock = ContinuousClock()
      let time = await clock.measure { #expect(await rig.reply().error == nil) }
      #expect(rig.model.statistics.total == 2)
      #expect(time >= .seconds(3))
    }
  }

  @Test("tell what went wrong with them")
  func secondFailure() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "0"])), .init(.cut("Hello")))
    let result = try await Self.result(script)
    #expect(result.reply.error == .truncatedReply && result.requests == 2)
    #expect(result.reply.usage?.outputTokens == 150)
  }
}
