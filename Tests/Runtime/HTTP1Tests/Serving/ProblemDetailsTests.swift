import HTTPTypes
import Testing

@testable import HTTP1

@Suite struct ProblemDetailsTests {
  @Test("a problem says by default what its status says")
  func hasDefaults() {
    #expect(text(ProblemDetails(.notFound)) == #"{"type":"about:blank","title":"Not Found","status":404}"#)
  }

  @Test("extension members follow in their order")
  func writesExtensions() {
    let problem = ProblemDetails(
      .badRequest, type: "/problems/field", title: "Bad field", detail: "too long",
      extensions: [
        ("field", .string("title")), ("limit", .integer(-50)), ("final", .boolean(true)),
        ("known", .strings(["a", "b"])),
      ])
    #expect(
      text(problem)
        == #"{"type":"/problems/field","title":"Bad field","status":400,"detail":"too long","field":"title","#
        + #""limit":-50,"final":true,"known":["a","b"]}"#)
  }

  @Test(
    "text is escaped",
    arguments: [
      (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\u000ab"#), ("\u{1f}", #"\u001f"#), ("é😀/", "é😀/"),
    ])
  func escapesText(_ detail: String, _ escaped: String) {
    #expect(text(ProblemDetails(.badRequest, detail: detail)).hasSuffix("\"detail\":\"\(escaped)\"}"))
  }

  private func text(_ problem: ProblemDetails) -> String { String(decoding: problem.json, as: UTF8.self) }
}
