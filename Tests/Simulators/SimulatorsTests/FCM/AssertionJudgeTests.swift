import Cryptography
import Testing

@testable import Simulators

@Suite("The judge of assertions")
struct AssertionJudgeTests {
  private static let key = RSAPrivateKey()
  private static let now: Int64 = 1_790_000_000
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  private static let judge = AssertionJudge(
    accounts: ["a@b": SimulatedAccount(email: "a@b", project: "p", keyIdentifier: "k1", key: key.publicKey)],
    audiences: ["https://oauth2.googleapis.com/token"], now: now)

  private static func assertion(
    header: String = #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#, iss: String = "a@b", scope: String = scope,
    aud: String = "https://oauth2.googleapis.com/token", iat: String = "\(now)", exp: String = "\(now + 3600)",
    key: RSAPrivateKey = key
  ) throws -> String {
    let claims = #"{"iss":"\#(iss)","scope":"\#(scope)","aud":"\#(aud)","iat":\#(iat),"exp":\#(exp)}"#
    let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
    return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
  }

  private static func word(_ assertion: String, grant: String = grant) -> String {
    switch judge.judge(["grant_type": grant, "assertion": assertion]) {
    case .token: "token"
    case .identity: "identity"
    case .refusal(let error, let text): "\(error): \(text)"
    }
  }

  @Test("a good assertion gets a token with the known ones of its scopes")
  func good() throws {
    let other = "https://www.googleapis.com/auth/cloud-platform"
    let form = ["grant_type": Self.grant, "assertion": try Self.assertion(scope: "\(Self.scope) unknown \(other)")]
    #expect(Self.judge.judge(form) == .token(email: "a@b", scopes: [Self.scope, other]))
  }

  @Test(
    "times have both edges",
    arguments: [
      (0, 3600, true), (0, 3601, false), (0, 1, true), (0, 0, false), (300, 3900, true), (301, 3901, false),
      (-3599, 1, true), (-3600, 0, false), (-7200, -3600, false), (0, -1, false),
    ] as [(Int64, Int64, Bool)])
  func times(_ issued: Int64, _ end: Int64, _ isAccepted: Bool) throws {
    let word = Self.word(try Self.assertion(iat: "\(Self.now + issued)", exp: "\(Self.now + end)"))
    #expect(isAccepted ? word == "token" : word.hasPrefix("invalid_grant: Invalid JWT: Token must be a short-lived"))
  }

  @Test(
    "times that are no times are refused",
    arguments: ["null", "\"1\"", "1.5", "-1", "9223372036854775807", "-9223372036854775808", "1e300", "[]"])
  func strangeTimes(_ text: String) throws {
    #expect(Self.word(try Self.assertion(iat: text)) != "token")
    #expect(Self.word(try Self.assertion(exp: text)) != "token")
  }

  @Test("every mistake has Google's words")
  func mistakes() throws {
    let signature = "invalid_grant: Invalid JWT Signature."
    let table = [
      (try Self.assertion(key: RSAPrivateKey()), signature), (try Self.assertion() + "A", signature),
      (try Self.assertion(header: #"{"alg":"none","kid":"k1"}"#), signature),
      (try Self.assertion(header: #"{"alg":"HS256","kid":"k1"}"#), signature),
      (try Self.assertion(header: #"{"alg":"RS256","kid":"k2"}"#), signature),
      (try Self.assertion(header: #"{"alg":"RS256"}"#), signature),
      (try Self.assertion(iss: "c@d"), "invalid_grant: Invalid grant: account not found"),
      (
        try Self.assertion(aud: "https://oauth2.googleapis.com/token/"),
        "invalid_grant: Invalid JWT: Failed audience check."
      ),
      (try Self.assertion(scope: ""), "invalid_scope: Empty or missing scope not allowed."),
      (try Self.assertion(scope: "unknown"), "identity"), ("abc", "invalid_request: Bad Request"),
      ("", "invalid_request: Bad Request"), ("a.b.c", "invalid_request: Bad Request"),
      ("..", "invalid_request: Bad Request"), ("W10.W10.", "invalid_request: Bad Request"),
    ]
    for (assertion, word) in table { #expect(Self.word(assertion) == word) }
    #expect(Self.word("a.b.c", grant: "password") == "unsupported_grant_type: Invalid grant_type: password")
  }

  @Test("an assertion that is cut anywhere gets no token")
  func cuts() throws {
    let assertion = try Self.assertion()
    for length in 0..<assertion.count { #expect(Self.word(String(assertion.prefix(length))) != "token") }
  }

  @Test(
    "a form is decoded, and broken fields are left out",
    arguments: [
      ("a=1&b=2", ["a": "1", "b": "2"]), ("a=%3A+%c3%A4", ["a": ": ä"]), ("a", ["a": ""]), ("", [:]), ("&&", [:]),
      ("a=%", [:]), ("a=%4", [:]), ("a=%GG&b=1", ["b": "1"]), ("a=%FF", [:]), ("a=b=c", ["a": "b=c"]),
    ])
  func forms(_ body: String, _ fields: [String: String]) {
    #expect(Dictionary(FormFields.read(Array(body.utf8))) { first, _ in first } == fields)
  }
}
