import Cryptography
import Foundation
import FoundationEssentials
import HTTPTypes
import TestKeys
import TestProcesses
import TestRepository
import Testing

@testable import API

/// Every kind of token against the running verification, over HTTP: a service and an issuer's key set on loopback. The table
/// is printed.
@Suite("The token matrix", .timeLimit(.minutes(2)))
struct TokenMatrixTests {
  private struct Case {
    let name: String
    let token: String
    /// The status, and for a refusal what the caller is told.
    let expected: String
  }

  private static let accepted = "200 \(TokenForge.user)"

  private static func refused(_ reason: String) -> String { "401 The token is not valid: \(reason)." }

  private let current = IssuerKey("es-1")
  /// Has the name of the current key, and is another one.
  private let stranger = IssuerKey("es-1")
  private let wrong = "its signature is wrong"
  private let requirements = TokenRequirements(
    audiences: ["authenticated"], issuer: "https://id.example/auth/v1", user: uuidUser)

  private func check(_ cases: [Case], _ rig: TokenRig) async throws {
    for entry in cases {
      let outcome = try await rig.ask(entry.token)
      let told = Self.told(outcome)
      print("  \(entry.name.padded(to: 44)) \(told)")
      #expect(told == entry.expected, "\(entry.name)")
      if outcome.status == 401 { #expect(outcome.challenge == #"Bearer error="invalid_token""#) }
    }
  }

  /// The user, or the detail of the problem.
  private static func told(_ outcome: TokenRig.Outcome) -> String {
    guard let match = outcome.text.firstMatch(of: /"detail":"([^"]*)"/) else { return "\(outcome)" }
    return "\(outcome.status) \(match.1)"
  }

  private func run(_ test: (TokenRig) async throws -> Void) async throws {
    let document = keySet(current.published(), RSAIssuerKey.shared.published())
    try await TokenRig.run(requirements: requirements, publishing: document, test)
  }

  @Test("valid tokens are accepted, and their claims are judged whatever signed them")
  func claims() async throws {
    try await run { rig in
      let rsa = RSAIssuerKey.shared
      var cases = [
        Case(name: "valid HS256", token: try TokenForge.hs256(), expected: Self.accepted),
        Case(name: "valid ES256", token: try current.token(), expected: Self.accepted),
        Case(name: "valid RS256", token: try rsa.token(), expected: Self.accepted),
      ]
      let faults = [
        ("expired", TokenForge.claims(exp: "1799999940"), "it has expired"),
        ("not yet", TokenForge.claims(nbf: "1800000061"), "it is not valid yet"),
        ("wrong audience", TokenForge.claims(aud: #""anon""#), "it is for another audience"),
        ("wrong issuer", TokenForge.claims(iss: "https://evil.example"), "somebody else issued it"),
        ("no exp", TokenForge.claims(exp: nil), "it has no end"),
        ("sub no UUID", TokenForge.claims(sub: "clara"), "its subject is not the id of a user"),
        ("no sub", TokenForge.claims(sub: nil), "its subject is not the id of a user"),
      ]
      // Claims are read alike whatever signed them, so each fault has one of the three.
      for (number, (name, claims, fault)) in faults.enumerated() {
        let token = try [TokenForge.hs256(claims), current.token(claims), rsa.token(claims)][number % 3]
        cases.append(Case(name: name, token: token, expected: Self.refused(fault)))
      }
      cases.append(
        Case(
          name: "expired 59 s ago", token: try current.token(TokenForge.claims(exp: "1799999941")),
          expected: Self.accepted))
      cases.append(
        Case(
          name: "valid in 60 s", token: try current.token(TokenForge.claims(nbf: "1800000060")), expected: Self.accepted
        ))
      try await check(cases, rig)
    }
  }

  @Test("no token chooses how it is verified")
  func confusion() async throws {
    let rsa = RSAIssuerKey.shared
    let (algorithm, key) = ("its algorithm is not accepted", "its key is not known")
    let es256 = #"{"alg":"ES256","kid":"es-1"}"#
    let es512 = #"{"alg":"ES512","kid":"es-1"}"#
    try await run { rig in
      try await check(
        [
          refusal("alg none", algorithm, try unsigned(#"{"alg":"none"}"#)),
          refusal("alg None", algorithm, try unsigned(#"{"alg":"None"}"#)),
          refusal("alg hs256", algorithm, try TokenForge.hs256(header: #"{"alg":"hs256"}"#)),
          refusal("alg HS384", algorithm, try TokenForge.hs256(header: #"{"alg":"HS384"}"#)),
          refusal("alg PS256", algorithm, try rsa.token(header: #"{"alg":"PS256","kid":"rsa-1"}"#)),
          refusal("alg ES512", algorithm, try current.token(header: es512)),
          refusal("HS256 without a signature", wrong, try unsigned(#"{"alg":"HS256"}"#)),
          refusal("ES256 without a signature", wrong, try unsigned(es256)),
          refusal("ES256 of zeros", wrong, try TokenForge.token(es256) { _ in [UInt8](repeating: 0, count: 64) }),
          refusal("ES256 signed with the secret", wrong, try TokenForge.hs256(header: es256)),
          refusal("ES256 with the RSA key's kid", key, try current.token(header: #"{"alg":"ES256","kid":"rsa-1"}"#)),
          refusal("RS256 with the ES256 key's kid", key, try rsa.token(header: #"{"alg":"RS256","kid":"es-1"}"#)),
          refusal("unknown kid", key, try current.token(header: #"{"alg":"ES256","kid":"es-9"}"#)),
          refusal("ES256 without a kid", "it names no key", try current.token(header: #"{"alg":"ES256"}"#)),
          refusal("another key under a known kid", wrong, try stranger.token()),
          refusal("a key brought along", wrong, try stranger.token(header: stranger.bringingItself)),
          refusal("padded", "it is not base64url", try current.token() + "="),
          refusal("three bytes", "it has not three parts", "abc"),
          refusal("longer than 8 KiB", "it is longer than 8192 bytes", try current.token(tooLong)),
          refusal("crit", "it has critical extensions", try current.token(header: current.critical)),
        ] + publicKeysAsSecrets(), rig)
    }
  }

  private var tooLong: String { TokenForge.claims(iss: String(repeating: "i", count: 8192)) }

  /// What a verification that takes its key for what the header says would accept.
  private func publicKeysAsSecrets() throws -> [Case] {
    let es256 = current.key.publicKey
    let rsa = RSAIssuerKey.shared
    let secrets: [(String, [UInt8])] = [
      ("PEM", Array(es256.pem.utf8)), ("DER", Self.der(es256.pem)),
      ("JWK", Array(current.published().utf8)), ("RSA PEM", Array(rsa.key.publicPEM.utf8)),
      ("RSA JWK", Array(rsa.published().utf8)), ("nothing", []),
    ]
    return try secrets.map { name, secret in
      let token = try TokenForge.token(#"{"alg":"HS256","kid":"es-1"}"#, signer: TokenForge.hmac(secret))
      return refusal("HS256 signed with the public key: \(name)", wrong, token)
    }
  }

  /// The content of PEM text.
  private static func der(_ pem: String) -> [UInt8] {
    let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
    return Array(Data(base64Encoded: lines.joined()) ?? Data())
  }

  private func unsigned(_ header: String) throws -> String { try TokenForge.token(header) { _ in [] } }

  private func refusal(_ name: String, _ reason: String, _ token: String) -> Case {
    Case(name: name, token: token, expected: Self.refused(reason))
  }

  @Test("a verification without a secret, or without a key set, accepts nothing of the kind")
  func families() async throws {
    let unknown = Self.refused("its algorithm is not accepted")
    try await TokenRig.run(hasSecret: false, publishing: keySet(current.published())) { rig in
      try await check(
        [
          Case(name: "HS256 where only a key set is", token: try TokenForge.hs256(), expected: unknown),
          Case(name: "ES256 where only a key set is", token: try current.token(), expected: Self.accepted),
        ], rig)
    }
    try await TokenRig.run(hasKeySet: false) { rig in
      try await check(
        [
          Case(name: "ES256 where only a secret is", token: try current.token(), expected: unknown),
          Case(name: "HS256 where only a secret is", token: try TokenForge.hs256(), expected: Self.accepted),
        ], rig)
      #expect(rig.keys.count == 0)
    }
  }

  @Test("a rotated set ends the old key, and a source that is down ends nothing")
  func rotation() async throws {
    let next = IssuerKey("es-2")
    try await TokenRig.run(publishing: keySet(current.published())) { rig in
      let old = Case(name: "key of the first set", token: try current.token(), expected: Self.accepted)
      rig.keys.answer(.serviceUnavailable)
      try await check(
        [
          Case(
            name: "source down, no set yet", token: old.token, expected: "503 Tokens cannot be verified at the moment.")
        ], rig)
      #expect(rig.keySet.readinessDetail == "no key set has been had yet: status 503")
      rig.keys.answer(.ok)
      rig.clock.advance(by: 5)
      try await check([old], rig)
      #expect(rig.keySet.readinessDetail == nil)
      rig.keys.publish(keySet(next.published()))
      rig.clock.advance(by: 60)
      try await check(
        [
          Case(name: "rotated set, new key", token: try next.token(), expected: Self.accepted),
          Case(name: "rotated set, old key gone", token: old.token, expected: Self.refused("its key is not known")),
        ], rig)
      rig.keys.answer(.internalServerError)
      rig.clock.advance(by: 600)
      try await check(
        [
          Case(name: "source down, last good set", token: try next.token(), expected: Self.accepted),
          Case(name: "source down, unknown kid", token: old.token, expected: Self.refused("its key is not known")),
        ], rig)
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, count - self.count))
  }
}

/// The same tokens judged here and by Python's `cryptography`.
@Suite("Tokens beside another implementation")
struct TokenDifferentialTests {
  private static let count = 10_000

  private struct Keys: Decodable {
    let secret: String
    let jwks: String
  }

  private struct JudgedToken: Decodable {
    let token: String
    let made: String
    let isValid: Bool
  }

  @Test("ten thousand tokens, valid and broken, are judged the same", .timeLimit(.minutes(2)))
  func tokens() async throws {
    let seed = UInt32.random(in: 0...UInt32.max)
    let script = Repository.file("Tests/Service/APITests/Callers/generate_tokens.py").path
    // The system's, which has its packages from the system too.
    let output = try await onOwnThread { try run(["/usr/bin/python3", script, "\(seed)", "\(Self.count)"]) }
    let lines = output.split(separator: "\n").map { Data($0.utf8) }
    let decoder = JSONDecoder()
    let keys = try decoder.decode(Keys.self, from: try #require(lines.first))
    let secret = VerificationKey.hs256(HMACSHA256(key: Array(keys.secret.utf8)))
    let set = try KeySet(Array(keys.jwks.utf8))
    var seen: [String: [Bool: Int]] = [:]
    for line in lines.dropFirst() {
      let judged = try decoder.decode(JudgedToken.self, from: line)
      let isValid = Self.isSigned(judged.token, secret, set)
      #expect(isValid == judged.isValid, "seed \(seed), \(judged.made): \(judged.token)")
      seen[judged.made, default: [:]][judged.isValid, default: 0] += 1
    }
    #expect(seen.values.flatMap(\.values).reduce(0, +) == Self.count)
    // Every kind of change was there, and some of both verdicts.
    #expect(seen.count == 8)
    #expect(seen.values.map { $0[true] ?? 0 }.reduce(0, +) > Self.count / 5)
    #expect(seen.filter { $0.key != "as issued" }.allSatisfy { $0.value[false, default: 0] > 100 })
  }

  /// Whether the key that the header names has signed the token; claims are not looked at.
  private static func isSigned(_ text: String, _ secret: VerificationKey, _ set: KeySet) -> Bool {
    guard let token = try? CompactToken(text), let algorithm = try? token.header.acceptedAlgorithm() else {
      return false
    }
    if algorithm == .hs256 { return secret.hasSigned(token) }
    guard let kid = token.header.kid else { return false }
    return set.keys[KeySet.Name(kid: kid, algorithm: algorithm)]?.hasSigned(token) ?? false
  }
}
