import Cryptography
import Foundation
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

@Suite("Service accounts")
struct ServiceAccountTests {
  static let key = RSAPrivateKey()

  /// Google's file, with changes; nil removes a member.
  static func file(_ changes: [String: Any?] = [:]) throws -> [UInt8] {
    var members: [String: Any] = [
      "type": "service_account", "client_email": "push@tacet-test.iam.gserviceaccount.com",
      "private_key": key.pem, "private_key_id": "0123abcd", "project_id": "tacet-test",
      "token_uri": "https://oauth2.googleapis.com/token", "client_id": "1", "universe_domain": "googleapis.com",
    ]
    for (name, value) in changes { members[name] = value }
    return Array(try JSONSerialization.data(withJSONObject: members, options: .sortedKeys))
  }

  @Test("Google's file is read")
  func reading() throws {
    let account = try ServiceAccount(json: Self.file())
    #expect(account.clientEmail == "push@tacet-test.iam.gserviceaccount.com")
    #expect(account.keyIdentifier == "0123abcd")
    #expect(account.projectIdentifier == "tacet-test")
    #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
    #expect(throws: Never.self) { try ServiceAccount(json: Self.file(["type": nil])) }
  }

  @Test(
    "a missing or wrong member is named",
    arguments: [
      ("client_email", nil), ("client_email", ""), ("client_email", "a b"), ("client_email", "a\r\nb"),
      ("client_email", String(repeating: "a", count: 321)), ("private_key", nil), ("private_key", "secret"),
      ("private_key_id", nil), ("private_key_id", "a\"b"), ("private_key_id", String(repeating: "a", count: 129)),
      ("project_id", nil), ("project_id", "a/b"), ("project_id", "a?b"), ("project_id", "ä"),
      ("project_id", String(repeating: "a", count: 65)), ("token_uri", nil), ("token_uri", "http://example.com/token"),
      ("type", "authorized_user"),
    ] as [(String, String?)])
  func mistakes(_ member: String, _ value: String?) throws {
    let json = try Self.file([member: value])
    let error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: json) }
    #expect(error?.member == member)
    #expect(error?.description.hasPrefix(member) == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test("a member of another type is named")
  func types() throws {
    for name in ["client_email", "private_key", "private_key_id", "project_id", "token_uri", "type"] {
      for value in [1, true, ["a"], ["a": "b"], NSNull()] as [Any] {
        let json = try Self.file([name: value])
        #expect(#expect(throws: ServiceAccountError.self) { try ServiceAccount(json: json) }?.member == name)
      }
    }
  }

  @Test("the longest values are read")
  func longest() throws {
    let json = try Self.file([
      "client_email": String(repeating: "a", count: 320), "private_key_id": String(repeating: "a", count: 128),
      "project_id": String(repeating: "a", count: 64),
    ])
    #expect(throws: Never.self) { try ServiceAccount(json: json) }
  }

  @Test("a file has at most 16 KiB", arguments: [(0, true), (1, false)])
  func size(_ excess: Int, _ isAccepted: Bool) throws {
    let json = try Self.file()
    let padded = json + [UInt8](repeating: 0x20, count: ServiceAccount.fileBytesMax - json.count + excess)
    let account = try? ServiceAccount(json: padded)
    #expect((account != nil) == isAccepted)
  }

  @Test("a file that is cut anywhere, and anything but an object, is refused")
  func cuts() throws {
    let json = try Self.file()
    for length in 0..<json.count {
      #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(json.prefix(length))) }
    }
    for text in ["[]", "1", "null", String(repeating: "[", count: 10_000), "{\"a\":\"\u{0}\"}"] {
      #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(text.utf8)) }
    }
  }

  @Test("keys of other algorithms and short keys are refused")
  func keys() throws {
    let json = try Self.file(["private_key": P256PrivateKey().pem])
    #expect(throws: ServiceAccountError("private_key", "not an RSA key")) { try ServiceAccount(json: json) }
  }

  @Test("an assertion is an RS256 JWT of an hour with Google's claims")
  func assertion() throws {
    let account = try ServiceAccount(json: Self.file())
    let parts = try account.assertion(issuedAt: 1_790_000_000).split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    let documents = try parts.prefix(2).map { part in
      String(decoding: try #require(Base64URL.decode(part.utf8)), as: UTF8.self)
    }
    #expect(documents[0] == #"{"alg":"RS256","typ":"JWT","kid":"0123abcd"}"#)
    #expect(
      documents[1] == #"{"iss":"push@tacet-test.iam.gserviceaccount.com","#
        + #""scope":"https://www.googleapis.com/auth/firebase.messaging","aud":"https://oauth2.googleapis.com/token","#
        + #""iat":1790000000,"exp":1790003600}"#)
    let signature = try #require(Base64URL.decode(parts[2].utf8))
    #expect(Self.key.publicKey.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test(
    "requests with credentials go over https, or stay on this machine",
    arguments: [
      ("https://oauth2.googleapis.com/token", true), ("HTTPS://example.com", true), ("https://example.com:8443/", true),
      ("https://10.0.0.1/token", true), ("http://127.0.0.1:2400/token", true), ("http://localhost:1", true),
      ("http://LOCALHOST/", true), ("http://[::1]:2400/token", true), ("http://127.9.9.9", true),
      ("http://example.com/token", false), ("http://10.0.0.1/token", false), ("http://[::2]/", false),
      ("http://127.0.0.1.example.com/", false), ("http://localhost.example.com/", false),
      ("http://localhost@example.com/", false), ("https://user:word@example.com/", false), ("ftp://example.com", false),
      ("https://", false), ("https:///token", false), ("//example.com", false), ("", false), ("https", false),
      ("https://exa mple.com", false), ("https://example.com/\r\nX: 1", false), ("https://ex\u{e4}mple.com", false),
      ("http://[::1", true), ("http://127.0.0.1\\@example.com/", true),
      ("https://e/" + String(repeating: "a", count: 2038), true),
      ("https://e/" + String(repeating: "a", count: 2039), false),
    ])
  func endpoints(_ text: String, _ isAccepted: Bool) {
    #expect((EndpointURL(text) != nil) == isAccepted)
  }
}
