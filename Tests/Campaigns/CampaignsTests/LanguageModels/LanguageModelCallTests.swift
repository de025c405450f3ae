import HTTPTypes
import PushStore
import Reactors
import Simulators
import Testing

@testable import Campaigns

@Suite("Calls to language models at the same time", .timeLimit(.minutes(1)))
struct LanguageModelTurnTests {
  private static func hangs(_ times: Int) -> ModelScript {
    ModelScript(.init(.hang, times: times), .init(.reply("Hello")))
  }

  @Test("are as many as may be, the others wait, and nobody beyond them")
  func bound() async throws {
    try await ModelRig.run(
      Self.hangs(3),
      configure: {
        $0.callsMax = 3
        $0.waitingMax = 7
      }
    ) { rig in
      let calls = (0..<10).map { _ in rig.start() }
      #expect(await rig.simulator.waitForRequests(3, within: .seconds(20)))
      await rig.pends(10)
      #expect(await rig.reply().code == .busy)
      #expect(rig.model.statistics.inFlight == 3)
      #expect(rig.model.release() == 3)
      for call in calls { #expect(await call.value.code == nil) }
      #expect(rig.model.statistics.inFlightMax == 3)
      #expect(rig.model.statistics.total == 10)
      await rig.pends(0)
    }
  }

  @Test("wait while a provider that limits the rate is waited for")
  func backPressure() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after-ms": "50"])), .init(.reply("Hello")))
    try await ModelRig.run(script, configure: { $0.callsMax = 1 }) { rig in
      let calls = [rig.start(), rig.start()]
      for call in calls { #expect(await call.value.code == nil) }
      #expect(rig.model.statistics.total == 3)
      #expect(rig.model.statistics.inFlightMax == 1)
    }
  }

  @Test("begin to count their time with their turn")
  func patience() async throws {
    try await ModelRig.run(
      ModelScript(.init(.reply("Hello"), delayMilliseconds: 800)),
      configure: {
        $0.callsMax = 1
        $0.deadline = .seconds(2)
      }
    ) { rig in
      for call in (0..<3).map({ _ in rig.start() }) { #expect(await call.value.code == nil) }
    }
  }

  @Test("end with their task, whether they are under way or wait")
  func cancel() async throws {
    try await ModelRig.run(Self.hangs(1), configure: { $0.callsMax = 1 }) { rig in
      let running = rig.start()
      #expect(await rig.simulator.waitForRequests(1, within: .seconds(20)))
      let waiting = rig.start()
      await rig.pends(2)
      for call in [waiting, running] {
        call.cancel()
        #expect(await call.value.code == .cancelled)
      }
      #expect(await rig.reply().code == nil)
      #expect(rig.model.statistics.total == 2)
    }
  }

  @Test("end with their task before a second request, too")
  func cancelBetween() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "4"])), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      let call = rig.start()
      while rig.model.requests.first?.answered == nil { await Task.yield() }
      call.cancel()
      #expect(await call.value.code == .cancelled)
      #expect(rig.model.statistics.total == 1)
    }
  }

  @Test("are broken off by a close, wherever they are, and none begins after it")
  func close() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "4"])), .init(.hang))
    try await ModelRig.run(script, configure: { $0.callsMax = 2 }) { rig in
      let first = rig.start()
      while rig.model.requests.first?.answered == nil { await Task.yield() }
      let others = [rig.start(), rig.start()]
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(20)))
      await rig.pends(3)
      await rig.client.perform { $0.close(on: $1) }
      for call in [first] + others { #expect(await call.value.code == .closed) }
      #expect(await rig.reply().code == .closed)
    }
  }
}

@Suite("Calls to a language model with a limit of their own", .timeLimit(.minutes(1)))
struct LanguageModelLimitTests {
  private static func reply(_ rig: ModelRig, within limit: Duration) async -> LanguageModelError.Code? {
    await rig.client.perform { client, reactor in
      do throws(LanguageModelError) {
        _ = try await client.reply(to: ModelRig.prompt, within: limit, on: reactor)
        return nil
      } catch {
        return error.code
      }
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

  @Test("count the wait for their turn")
  func turn() async throws {
    try await ModelRig.run(ModelScript(.init(.hang)), configure: { $0.callsMax = 1 }) { rig in
      let first = rig.start()
      await rig.pends(1)
      #expect(await Self.reply(rig, within: .milliseconds(100)) == .busy)
      await rig.pends(1)
      #expect(await rig.simulator.waitForRequests(1, within: .seconds(20)))
      rig.model.release()
      _ = await first.value
    }
  }

  @Test("are not retried where the provider asks for a wait")
  func retry() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after-ms": "50"])), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      #expect(await Self.reply(rig, within: .seconds(20)) == .rateLimited)
      #expect(rig.model.statistics.total == 1)
    }
  }
}

@Suite("Second requests to language models", .timeLimit(.minutes(1)))
struct LanguageModelRetryTests {
  private static func script(_ status: Int, _ fields: [String: String], times: Int = 1) -> ModelScript {
    ModelScript(.init(.failure(status: status, fields: fields), times: times), .init(.reply("Hello")))
  }

  /// What comes of a call, and of how many requests.
  private static func result(
    _ script: ModelScript
  ) async throws -> (text: String?, error: LanguageModelError?, requests: Int) {
    var result: (String?, LanguageModelError?, Int) = (nil, nil, 0)
    try await ModelRig.run(script) { rig in
      let reply = await rig.reply()
      result = (try? reply.get().text, reply.error, rig.model.statistics.total)
    }
    return result
  }

  @Test(
    "are made when it says so in any way",
    arguments: [
      ["retry-after": "0.01"], ["retry-after-ms": "10"], ["retry-after-ms": "1", "retry-after": "60"],
      ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"], ["retry-after": "0", "x-should-retry": "true"],
    ])
  func ways(_ fields: [String: String]) async throws {
    let result = try await Self.result(Self.script(429, fields))
    #expect(result.text == "Hello" && result.requests == 2)
  }

  @Test(
    "are not made otherwise",
    arguments: [
      [:], ["x-should-retry": "true"], ["retry-after": "0", "x-should-retry": "false"], ["retry-after": "5.001"],
      ["retry-after": "3600"], ["retry-after-ms": "5001"], ["retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"],
      ["retry-after": "soon"], ["retry-after": "-1"], ["retry-after": ""],
    ])
  func others(_ fields: [String: String]) async throws {
    let result = try await Self.result(Self.script(429, fields))
    #expect(result.error?.code == .rateLimited && result.requests == 1)
  }

  @Test("are the last ones, whatever the answer to them says")
  func twice() async throws {
    let result = try await Self.result(Self.script(429, ["retry-after": "0"], times: 2))
    #expect(result.error?.code == .rateLimited && result.requests == 2)
  }

  @Test("have the whole time again, after the wait that was asked for")
  func deadline() async throws {
    let script = Self.script(529, ["retry-after-ms": "1100"])
    try await ModelRig.run(script, configure: { $0.deadline = .seconds(1) }) { rig in
      let clock = ContinuousClock()
      let time = try await clock.measure { _ = try await rig.reply().get() }
      #expect(rig.model.statistics.total == 2)
      #expect(time >= .milliseconds(1100))
    }
  }

  @Test("tell what went wrong with them")
  func secondFailure() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "0"])), .init(.cut("Hello")))
    let result = try await Self.result(script)
    #expect(result.error?.code == .truncatedReply && result.requests == 2)
    #expect(result.error?.usage?.outputTokens == 150)
  }
}

@Suite("When to come again")
struct RetryAdviceTests {
  @Test(
    "only what may pass is asked again",
    arguments: [408, 409, 429, 500, 503, 529].map { ($0, true) } + [400, 401, 403, 404, 413, 422].map { ($0, false) })
  func statuses(_ status: Int, isRetried: Bool) {
    #expect((RetryAdvice.wait(status: status, [.retryAfter: "0"], now: 0) != nil) == isRetried)
  }

  /// 1994-11-06T08:49:37Z
  private static let now: Int64 = 784_111_777

  private static func wait(_ fields: [(String, String)]) -> Duration? {
    var all = HTTPFields()
    for (name, value) in fields { all[HTTPField.Name(name)!] = value }
    return RetryAdvice.wait(status: 429, all, now: now)
  }

  @Test("a date counts from the answer's own date, else from now")
  func dates() {
    let then = "Sun, 06 Nov 1994 08:49:40 GMT"
    #expect(Self.wait([("retry-after", then)]) == .seconds(3))
    #expect(Self.wait([("retry-after", then), ("date", "Sun, 06 Nov 1994 08:49:38 GMT")]) == .seconds(2))
    #expect(Self.wait([("retry-after", then), ("date", "yesterday")]) == .seconds(3))
    #expect(Self.wait([("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")]) == .zero)
  }

  @Test(
    "what is no number and no date says nothing",
    arguments: ["", ".", "1e3", "inf", "nan", "+1", "-1", "1,5", "0x1", "١", "1.2.3"])
  func strangers(_ text: String) {
    #expect(Self.wait([("retry-after", text)]) == nil)
    #expect(Self.wait([("retry-after-ms", text)]) == nil)
  }

  @Test("a wait without an end is a long one")
  func endless() {
    #expect(Self.wait([("retry-after", String(repeating: "9", count: 300))]) == .seconds(31_536_000))
  }
}
