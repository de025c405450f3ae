import Testing

@testable import API

@Suite("Tokens taken apart")
struct CompactTokenTests {
  @Test("the parts are those that came, and the first two are what is signed")
  func parts() throws {
    let text = try TokenForge.token(#"{"alg":"ES256","kid":"k","jwk":{"kty":"oct"}}"#, "payload") { _ in [1, 2, 3] }
    let token = try CompactToken(text)
    #expect(token.header.alg == "ES256")
    #expect(token.header.kid == "k")
    #expect(!token.header.hasCritical)
    #expect(token.payload == Array("payload".utf8))
    #expect(token.signature == [1, 2, 3])
    #expect(token.signed == Array(text.utf8.prefix { $0 != UInt8(ascii: ".") }) + Array(".cGF5bG9hZA".utf8))
  }

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
