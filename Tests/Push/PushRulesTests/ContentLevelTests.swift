import PushRules
import Testing

@Suite("Levels of content")
struct ContentLevelTests {
  @Test(
    "the strictest of two choices applies, in words and in sealing, in either order",
    arguments: [
      (.full, .full, .full, false), (.full, .sender, .sender, false), (.full, .none, .none, false),
      (.full, .sealed, .full, true), (.sender, .sender, .sender, false), (.sender, .none, .none, false),
      (.sender, .sealed, .sender, true), (.none, .none, .none, false), (.none, .sealed, .none, true),
      (.sealed, .sealed, .full, true),
    ] as [(ContentChoice, ContentChoice, ContentLevel.Words, Bool)])
  func strictest(_ one: ContentChoice, _ other: ContentChoice, _ words: ContentLevel.Words, _ isSealed: Bool) {
    let expected = ContentLevel(words: words, isSealed: isSealed)
    #expect(ContentLevel(one).strictest(ContentLevel(other)) == expected)
    #expect(ContentLevel(other).strictest(ContentLevel(one)) == expected)
  }
}
