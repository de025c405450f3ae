import FoundationEssentials
import Testing

@testable import API

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
