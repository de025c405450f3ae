import Testing

@testable import API

@Suite("Key sets")
struct KeySetTests {
  private func names(_ document: String) throws -> [String] {
    try KeySet(Array(document.utf8)).keys.keys.map { "\($0.kid) \($0.algorithm.rawValue)" }.sorted()
  }

  @Test("keys of both kinds are taken, and verify what they have signed")
  func both() throws {
    let (one, two) = (IssuerKey("one"), RSAIssuerKey.shared)
    let set = try KeySet(Array(keySet(one.published(), two.published()).utf8))
    let es256 = try #require(set.keys[KeySet.Name(kid: "one", algorithm: .es256)])
    let rs256 = try #require(set.keys[KeySet.Name(kid: two.kid, algorithm: .rs256)])
    #expect(set.keys.count == 2)
    let (short, long) = (try CompactToken(try one.token()), try CompactToken(try two.token()))
    #expect(es256.hasSigned(short) && rs256.hasSigned(long))
    #expect(!es256.hasSigned(long) && !rs256.hasSigned(short))
  }

  @Test(
    "an elliptic key is taken when it is one for ES256 signatures",
    arguments: [
      ([:], true), (["alg": ""], true), (["use": ""], true), (["key_ops": #"["verify"]"#], true),
      (["key_ops": #"["sign","verify"]"#], true), (["key_ops": #"["sign"]"#], false), (["key_ops": "[]"], false),
      (["use": #""enc""#], false), (["alg": #""ES384""#], false), (["alg": #""RS256""#], false),
      (["alg": #""HS256""#], false), (["crv": #""P-384""#], false), (["crv": ""], false), (["kty": #""RSA""#], false),
      (["kty": #""oct""#], false), (["kty": ""], false), (["kid": ""], false), (["kid": #""""#], false),
      (["kid": "1"], false), (["x": ""], false), (["x": #""AAAA""#], false), (["y": #""+""#], false),
      (["x": #""\#(String(repeating: "A", count: 43))""#], false), (["ext": "true"], true),
    ] as [([String: String], Bool)])
  func elliptic(changes: [String: String], isTaken: Bool) throws {
    #expect(try names(keySet(IssuerKey("k").published(changes))) == (isTaken ? ["k ES256"] : []))
  }

  @Test(
    "an RSA key is taken when it is one for RS256 signatures and strong",
    arguments: [
      ([:], true), (["alg": ""], true), (["alg": #""RS512""#], false), (["alg": #""PS256""#], false),
      (["alg": #""ES256""#], false), (["use": #""enc""#], false), (["e": ""], false), (["n": ""], false),
      (["e": #""AQ""#], false), (["e": #""Ag""#], false),
      (["n": #""\#(TokenForge.text([UInt8](repeating: 0xff, count: 128)))""#], false),
      (["n": #""\#(TokenForge.text([UInt8](repeating: 0xff, count: 1025)))""#], false),
    ] as [([String: String], Bool)])
  func rsa(changes: [String: String], isTaken: Bool) throws {
    #expect(try names(keySet(RSAIssuerKey.shared.published(changes))) == (isTaken ? ["rsa-1 RS256"] : []))
  }

  @Test("what is not usable leaves the rest alone, and the first of one name is taken")
  func rest() throws {
    let (first, second) = (IssuerKey("k"), IssuerKey("k"))
    let document = keySet(
      "1", "null", "{}", #"{"kty":"OKP","crv":"Ed25519","kid":"o","x":"AAAA"}"#, #"{"kty":"oct","kid":"s","k":"AAAA"}"#,
      first.published(), second.published(), RSAIssuerKey.shared.published(["kid": #""k""#]))
    #expect(try names(document) == ["k ES256", "k RS256"])
    let key = try KeySet(Array(document.utf8)).keys[KeySet.Name(kid: "k", algorithm: .es256)]
    #expect(try key?.hasSigned(CompactToken(try first.token())) == true)
    #expect(try key?.hasSigned(CompactToken(try second.token())) == false)
  }

  @Test("a set has a bound")
  func bound() throws {
    let keys = (0..<KeySet.keysMax + 1).map { IssuerKey("\($0)").published() }
    #expect(try names(#"{"keys":[\#(keys.joined(separator: ","))]}"#).count == KeySet.keysMax)
  }

  @Test(
    "a set without keys is one, anything else is none", arguments: ["", "[]", "null", "{}", #"{"keys":{}}"#, "<html>"])
  func noSet(text: String) throws {
    #expect(try names(#"{"keys":[]}"#) == [])
    #expect(throws: (any Error).self) { _ = try KeySet(Array(text.utf8)) }
  }
}
