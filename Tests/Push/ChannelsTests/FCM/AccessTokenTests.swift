import HTTPTypes
import PushRules
import TestRandomness
import Testing

@testable import Channels

@Suite("Access tokens")
struct AccessTokenTests {
  private static let second: UInt64 = 1_000_000_000

  private static func answer(_ text: String = "t", seconds: Int = 3599) throws -> AccessTokenAnswer {
    let body = #"{"access_token":"\#(text)","expires_in":\#(seconds),"token_type":"Bearer"}"#
    return try AccessTokenAnswer(status: 200, fields: [:], body: Array(body.utf8))
  }

  /// A machine that got a token at the time 0.
  private static func machine(seconds: Int = 3599) throws -> (AccessTokenStateMachine, AccessToken) {
    var machine = AccessTokenStateMachine(exchangeLimit: .seconds(10))
    #expect(machine.ask(now: 0) == .exchange)
    machine.succeed(try answer(seconds: seconds), now: second)
    guard case .use(let token) = machine.ask(now: second) else { throw MissingToken() }
    return (machine, token)
  }

  private struct MissingToken: Error {}

  @Test("the first push begins an exchange, and the next ones wait for it")
  func first() {
    var machine = AccessTokenStateMachine(exchangeLimit: .seconds(10))
    #expect(machine.ask(now: 0) == .exchange)
    #expect(machine.ask(now: 1) == .wait)
    #expect(machine.ask(now: 20 * Self.second - 1) == .wait)
  }

  @Test("an exchange whose reactor stopped is lost after twice its limit, and another begins")
  func lost() {
    var machine = AccessTokenStateMachine(exchangeLimit: .seconds(10))
    #expect(machine.ask(now: 0) == .exchange)
    #expect(machine.ask(now: 20 * Self.second) == .exchange)
  }

  @Test(
    "a token is renewed 5 minutes before its end, a short one at its half",
    arguments: [(3599, 3299), (600, 300), (120, 60)])
  func renewal(_ lifetime: Int, _ renewal: UInt64) throws {
    var (machine, token) = try Self.machine(seconds: lifetime)
    #expect(machine.ask(now: renewal * Self.second - 1) == .use(token))
    #expect(machine.ask(now: renewal * Self.second) == .useAndRenew(token))
    #expect(machine.ask(now: renewal * Self.second) == .use(token))
    machine.succeed(try Self.answer("u"), now: (renewal + 1) * Self.second)
    #expect(machine.ask(now: (renewal + 1) * Self.second) != .use(token))
  }

  @Test(
    "a token is used until its end, counted from the beginning of its exchange", arguments: [(3599, false), (0, true)])
  func end(_ seconds: UInt64, _ isUsed: Bool) throws {
    var (machine, token) = try Self.machine()
    let action = machine.ask(now: isUsed ? 3599 * Self.second - 1 : seconds * Self.second)
    #expect(action == (isUsed ? .useAndRenew(token) : .exchange))
  }

  @Test("a failed renewal leaves the old token in use, and the next try waits")
  func failedRenewal() throws {
    var (machine, token) = try Self.machine()
    let moment = 3300 * Self.second
    #expect(machine.ask(now: moment) == .useAndRenew(token))
    machine.fail(AccessTokenError(.unavailable, "http_503", fault: .service), now: moment, draw: 0)
    #expect(machine.ask(now: moment + 10 * Self.second - 1) == .use(token))
    #expect(machine.ask(now: moment + 10 * Self.second) == .useAndRenew(token))
  }

  @Test("waits after failures double from 10 s to 300 s, with up to half more by chance")
  func backoff() {
    var machine = AccessTokenStateMachine(exchangeLimit: .seconds(10))
    var now: UInt64 = 0
    for (seconds, draw) in [(10, 0), (30, 1), (40, 0), (80, 0), (160, 0), (300, 0), (450, 1), (300, 0)]
      as [(UInt64, Double)]
    {
      #expect(machine.ask(now: now) == .exchange)
      machine.fail(AccessTokenError(.unavailable, "http_503", fault: .service), now: now, draw: draw)
      guard case .refuse(let error) = machine.ask(now: now) else {
        Issue.record("not refused")
        return
      }
      #expect(error.wait == .seconds(seconds))
      now += seconds * Self.second
    }
    #expect(machine.ask(now: now) == .exchange)
  }

  @Test("the endpoint's own wait counts when it is longer, and a success ends the waits")
  func askedWait() throws {
    var machine = AccessTokenStateMachine(exchangeLimit: .seconds(10))
    var error = AccessTokenError(.unavailable, "http_429", fault: .throttle)
    error.askedWait = .seconds(100)
    machine.fail(error, now: 0, draw: 0)
    error.wait = .seconds(100)
    #expect(machine.ask(now: 0) == .refuse(error))
    #expect(machine.ask(now: 100 * Self.second) == .exchange)
    machine.succeed(try Self.answer(seconds: 60), now: 100 * Self.second)
    #expect(machine.ask(now: 160 * Self.second) == .exchange)
  }

  @Test("a rejected token is replaced, at most once a minute, unless there is a newer one")
  func rejection() throws {
    var (machine, token) = try Self.machine()
    #expect(machine.reject(token, now: 2 * Self.second) == true)
    #expect(machine.ask(now: 2 * Self.second) == .exchange)
    machine.succeed(try Self.answer("u"), now: 3 * Self.second)
    guard case .use(let newer) = machine.ask(now: 3 * Self.second) else { throw MissingToken() }
    #expect(newer != token)
    #expect(machine.reject(token, now: 4 * Self.second) == true)
    #expect(machine.ask(now: 4 * Self.second) == .use(newer))
    #expect(machine.reject(newer, now: 62 * Self.second - 1) == false)
    #expect(machine.ask(now: 62 * Self.second - 1) == .use(newer))
    #expect(machine.reject(newer, now: 62 * Self.second) == true)
  }

  @Test("a token is shown without its text")
  func secrecy() throws {
    let (_, token) = try Self.machine()
    #expect("\(token)" == "access token")
  }
}

@Suite("Answers of the token endpoint")
struct AccessTokenAnswerTests {
  private static func read(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) -> Result<
    AccessTokenAnswer, AccessTokenError
  > {
    Result { () throws(AccessTokenError) in
      try AccessTokenAnswer(status: status, fields: fields, body: Array(body.utf8))
    }
  }

  @Test(
    "a lifetime is from a minute to an hour; an hour when it is missing or no whole number",
    arguments: [
      ("3599", 3599), ("3600", 3600), ("3601", 3600), ("60", 60), ("59", 60), ("0", 60), ("-1", 60), ("null", 3600),
      ("\"9\"", 3600), ("9223372036854775807", 3600), ("1e400", 3600), ("99999999999999999999", 3600),
    ])
  func lifetimes(_ text: String, _ seconds: Int) throws {
    // A number that no type holds makes the whole document unreadable for some parsers: both ends are safe.
    let result = Self.read(200, #"{"access_token":"t","expires_in":\#(text)}"#)
    guard case .success(let answer) = result else {
      #expect(text == "1e400")
      return
    }
    #expect(answer.lifetime == .seconds(seconds))
  }

  @Test("a token has 1 to 4096 visible ASCII characters")
  func tokens() throws {
    let bodies = [1, 4096].map { String(repeating: "t", count: $0) }
    for token in bodies { #expect(try Self.read(200, #"{"access_token":"\#(token)"}"#).get().token == token) }
    for token in ["", String(repeating: "t", count: 4097), "a b", "a\\r\\nX: 1", "ä", "a\\u0000"] {
      guard case .failure(let error) = Self.read(200, #"{"access_token":"\#(token)"}"#) else {
        Issue.record("\(token) is accepted")
        continue
      }
      #expect(error.code == .unavailable)
    }
  }

  @Test(
    "a failure is the operator's, or passes",
    arguments: [
      (400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#, true, "invalid_grant"),
      (400, "", true, "http_400"), (401, "{}", true, "http_401"), (403, "<html>", true, "http_403"),
      (404, #"{"error":{"code":404}}"#, true, "http_404"), (302, "", true, "http_302"), (201, "{}", true, "http_201"),
      (408, "", false, "http_408"), (429, #"{"error":"rate_limit"}"#, false, "rate_limit"),
      (500, "", false, "http_500"),
      (503, "<html>", false, "http_503"), (599, "", false, "http_599"), (200, "<html>", false, "invalid_answer"),
      (200, #"{"id_token":"x"}"#, true, "no_access_token"), (200, "{}", true, "no_access_token"),
      (200, #"{"access_token":1}"#, true, "no_access_token"), (200, "[]", false, "invalid_answer"),
      (400, #"{"error":"in valid"}"#, true, "http_400"),
      (400, #"{"error":"\#(String(repeating: "a", count: 65))"}"#, true, "http_400"),
    ])
  func failures(_ status: Int, _ body: String, _ isFixed: Bool, _ reason: String) {
    guard case .failure(let error) = Self.read(status, body) else {
      Issue.record("accepted")
      return
    }
    #expect(error.code == (isFixed ? .credentials : .unavailable))
    #expect(error.reason == reason)
    #expect(error.attempt.disposition == (isFixed ? .fixCredentials : .retryLater(minimumWait: .zero)))
  }

  @Test("the explanation is kept up to 200 bytes, and the wait up to an hour")
  func bounds() {
    let long = String(repeating: "ä", count: 300)
    guard
      case .failure(let error) = Self.read(
        429, #"{"error":"e","error_description":"\#(long)"}"#, [.retryAfter: "99999999999999999999"])
    else { return }
    #expect(error.message.utf8.count <= 202)
    #expect(error.description.hasPrefix("e: ä"))
    #expect(error.askedWait == .seconds(3600))
    #expect(error.fault == .throttle)
  }

  @Test("an answer that is cut anywhere, deep or damaged never traps")
  func hostile() {
    let body = Array(#"{"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer"}"#.utf8)
    for length in 0..<body.count {
      #expect(throws: AccessTokenError.self) {
        try AccessTokenAnswer(status: 200, fields: [:], body: Array(body.prefix(length)))
      }
    }
    for text in [String(repeating: "[", count: 100_000), #"{"a":"# + String(repeating: "[", count: 8000)] {
      guard case .failure = Self.read(200, text) else { Issue.record("accepted"); return }
    }
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var damaged = body
      damaged[Int.random(in: 0..<body.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      if let answer = try? AccessTokenAnswer(status: 200, fields: [:], body: damaged) {
        #expect(answer.token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "seed \(seed)")
      }
    }
  }
}
