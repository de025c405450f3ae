import HTTPTypes
import Simulators
import Testing

@testable import Campaigns

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

@Suite("When to come again")
struct RetryAdviceTests {
  /// 1994-11-06T08:49:37Z
  private static let now = 784_111_777.0

  private static func wait(_ fields: [(String, String)]) -> Duration? {
    var all = HTTPFields()
    for (name, value) in fields { all[HTTPField.Name(name)!] = value }
    return RetryAdvice(status: 429, all, now: now)?.wait
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

  @Test(
    "dates are read in the one form that servers write",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
      ("Sun Nov  6 08:49:37 1994", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Nox 1994 08:49:37 GMT", nil), ("", nil),
    ])
  func fixedDates(_ text: String, _ seconds: Double?) {
    #expect(FixedDate(text)?.unixSeconds == seconds)
  }
}
