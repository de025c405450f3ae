import Cryptography
import FoundationEssentials
import Reactors
import Testing

@testable import API

@Suite("Tokens taken apart")
struct CompactTokenTests {

  @Test("any value of crit counts, also none", arguments: [#"["exp"]"#, "[]", "null"])
  func critical(value: String) throws {
    #expect(try CompactToken(try TokenForge.hs256(header: #"{"alg":"HS256","crit":\#(value)}"#)).header.hasCritical)
  }

  @Test(
    "a header without an algorithm, or with parts of the wrong type, is none",
    arguments: ["", "{}", "[]", "null", #""HS256""#, #"{"alg":null}"#, #"{"alg":1}"#, #"{"alg":"HS256","kid":1}"#])
  func headers(text: String) throws {
    let token = try TokenForge.hs256(header: text)
    #expect(throws: ClientTokenError(.invalid, "its header cannot be read")) { try CompactToken(token) }
  }

  @Test("two parts, four, and none are too few and too many", arguments: ["", ".", "a.b", "a.b.c.d", "....", "a"])
  func counts(text: String) {
    #expect(throws: ClientTokenError(.invalid, "it has not three parts")) { try CompactToken(text) }
  }
}

@Suite("What claims must say")
struct TokenRequirementsTests {
  private func judge(
    _ claims: String, audiences: [String] = ["authenticated"], issuer: String? = nil, now: Double = TokenForge.now
  ) -> String? {
    do throws(ClientTokenError) {
      let requirements = TokenRequirements(audiences: audiences, issuer: issuer, user: uuidUser)
      _ = try requirements.judge(try TokenClaims.read(Array(claims.utf8)), now: now)
      return nil
    } catch {
      #expect(error.code == .invalid)
      return error.detail
    }
  }

  @Test(
    "a token ends a minute after its exp, exclusively",
    arguments: [
      ("1800000000", nil), ("1799999941", nil), ("1799999940.5", nil), ("1799999940", "it has expired"),
      ("1799999939", "it has expired"), ("0", "it has expired"), ("-1", "it has expired"), ("1e300", nil),
      (nil, "it has no end"), ("null", "it has no end"), (#""1800003600""#, "its claims cannot be read"),
      ("true", "its claims cannot be read"),
    ] as [(String?, String?)])
  func end(exp: String?, fault: String?) {
    #expect(judge(TokenForge.claims(exp: exp)) == fault)
  }

  @Test(
    "a token begins a minute before its nbf, inclusively",
    arguments: [
      (nil, nil), ("1800000000", nil), ("1800000060", nil), ("1800000060.5", "it is not valid yet"),
      ("1800000061", "it is not valid yet"), (#""soon""#, "its claims cannot be read"),
    ] as [(String?, String?)])
  func beginning(nbf: String?, fault: String?) {
    #expect(judge(TokenForge.claims(nbf: nbf)) == fault)
  }

  @Test(
    "one of its audiences is one of ours",
    arguments: [
      (#""authenticated""#, nil), (#"["authenticated"]"#, nil), (#"["other","authenticated"]"#, nil),
      (#""second""#, nil), (#""other""#, "it is for another audience"), (#"[]"#, "it is for another audience"),
      (#""""#, "it is for another audience"), (#""Authenticated""#, "it is for another audience"),
      (nil, "it is for another audience"), ("null", "it is for another audience"), ("1", "its claims cannot be read"),
      (#"[1]"#, "its claims cannot be read"), (#"{"authenticated":1}"#, "its claims cannot be read"),
    ] as [(String?, String?)])
  func audience(aud: String?, fault: String?) {
    #expect(judge(TokenForge.claims(aud: aud), audiences: ["authenticated", "second"]) == fault)
  }

  @Test(
    "the issuer is ours where one is set, and anybody otherwise",
    arguments: [
      ("https://a", "https://a", nil), ("https://a", "https://a/", "somebody else issued it"),
      ("https://a", nil, "somebody else issued it"), (nil, "https://b", nil), (nil, nil, nil),
    ] as [(String?, String?, String?)])
  func issuer(wanted: String?, iss: String?, fault: String?) {
    #expect(judge(TokenForge.claims(iss: iss), issuer: wanted) == fault)
  }

  @Test(
    "the subject is the id of a user",
    arguments: [
      (TokenForge.user, nil), (TokenForge.user.uppercased(), nil), ("", "its subject is not the id of a user"),
      ("clara", "its subject is not the id of a user"),
      (String(TokenForge.user.dropLast()), "its subject is not the id of a user"),
      (TokenForge.user + "0", "its subject is not the id of a user"), (nil, "its subject is not the id of a user"),
    ] as [(String?, String?)])
  func subject(sub: String?, fault: String?) {
    #expect(judge(TokenForge.claims(sub: sub)) == fault)
  }

  @Test("what is no object has no claims", arguments: ["", "[]", "1", "null", "{", #"{"sub":1}"#])
  func noClaims(text: String) {
    #expect(judge(text) == "its claims cannot be read")
  }
}

@Suite("Verified tokens")
struct VerifiedTokensTests {
  private let user = UUID().uuidString

  private func digest(_ number: Int) -> SHA256Digest { SHA256.hash(Array("\(number)".utf8)) }

  private func insert(_ number: Int, into tokens: VerifiedTokens, expiresAt: Double = 100, keySetGeneration: Int? = nil)
  {
    tokens.insert(
      VerifiedToken(user: user, expiresAt: expiresAt), digest(number), keySetGeneration: keySetGeneration)
  }

  @Test("a token is known until its end, exclusively, and then forgotten")
  func end() {
    let tokens = VerifiedTokens()
    insert(1, into: tokens)
    #expect(tokens.user(of: digest(1), now: 99.9, keySetGeneration: nil) == user)
    #expect(tokens.user(of: digest(2), now: 99.9, keySetGeneration: nil) == nil)
    #expect(tokens.user(of: digest(1), now: 100, keySetGeneration: nil) == nil)
    #expect(tokens.count == 0)
  }

  @Test("a token of a key set is known while that set is, one of the secret whatever the set")
  func generation() {
    let tokens = VerifiedTokens()
    insert(1, into: tokens, keySetGeneration: 1)
    insert(2, into: tokens)
    #expect(tokens.user(of: digest(1), now: 0, keySetGeneration: 1) == user)
    #expect(tokens.user(of: digest(1), now: 0, keySetGeneration: 2) == nil)
    #expect(tokens.user(of: digest(2), now: 0, keySetGeneration: 2) == user)
  }
}

@Suite("Malformed tokens", .timeLimit(.minutes(2)))
struct MalformedTokenTests {
  private let key = IssuerKey("es-1")

  /// How a verification judges a token, without HTTP between.
  private func judge(_ token: String, _ rig: TokenRig) async throws -> ClientTokenError.Code? {
    try await rig.reactors[0].perform { [verifier = rig.verifier] reactor in
      do throws(ClientTokenError) {
        _ = try await verifier.userID(of: token, on: reactor)
        return nil
      } catch {
        return error.code
      }
    }
  }

  private func run(_ test: (TokenRig, [String]) async throws -> Void) async throws {
    let tokens = [try TokenForge.hs256(), try key.token(), try RSAIssuerKey.shared.token()]
    let document = keySet(key.published(), RSAIssuerKey.shared.published())
    try await TokenRig.run(publishing: document) { try await test($0, tokens) }
  }

  @Test("a token that is cut anywhere is refused")
  func cuts() async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let whole = try await judge(token, rig)
        #expect(whole == nil)
        for count in 0..<token.utf8.count {
          let code = try await judge(String(token.prefix(count)), rig)
          #expect(code == .invalid, "after \(count) bytes")
        }
      }
    }
  }

  @Test("a token with one bit changed anywhere is refused")
  func flips() async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let bytes = Array(token.utf8)
        for index in bytes.indices {
          var changed = bytes
          changed[index] ^= 1 << UInt8(index % 7)
          let code = try await judge(String(decoding: changed, as: UTF8.self), rig)
          #expect(code == .invalid, "byte \(index)")
        }
      }
    }
  }

  @Test(
    "a token that is spelled otherwise is refused",
    arguments: ["{0}=", "{0}==", " {0}", "{0} ", "{0}.", ".{0}", "{0}\n", "{0}A", "\u{FEFF}{0}"])
  func spellings(pattern: String) async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let code = try await judge(pattern.replacing("{0}", with: token), rig)
        #expect(code == .invalid)
      }
    }
  }

  @Test("a token may be as long as 8 KiB, and no longer", arguments: [0, 1])
  func length(excess: Int) async throws {
    try await run { rig, _ async throws in
      // The length of the claims moves that of the token by four for three.
      let unfilled = try TokenForge.hs256(TokenForge.claims(iss: "")).utf8.count
      let filling = (ClientTokenVerifier.bytesMax - unfilled) / 4 * 3
      let near = try (filling...filling + 8).map { count in
        try TokenForge.hs256(TokenForge.claims(iss: String(repeating: "i", count: count)))
      }
      let token = try #require(
        excess == 0
          ? near.last { $0.utf8.count <= ClientTokenVerifier.bytesMax }
          : near.first { $0.utf8.count > ClientTokenVerifier.bytesMax })
      #expect(abs(token.utf8.count - ClientTokenVerifier.bytesMax) <= 2)
      #expect(try await judge(token, rig) == (excess == 0 ? nil : .invalid))
    }
  }

  @Test("over HTTP no token and an empty one are refused too, and are told what is wanted")
  func missing() async throws {
    try await run { rig, _ async throws in
      for token in [nil, "", " "] {
        let outcome = try await rig.ask(token)
        #expect(outcome.status == 401)
        #expect(outcome.challenge?.hasPrefix("Bearer") == true)
      }
    }
  }
}
