import PushStore
import Testing

@testable import Operations

@Suite("The check of texts in other locales")
struct TextCheckTests {
  @Test("names the locales of each kind, and warns of texts that no event can show")
  func judged() {
    #expect(TextCheck.judge([]).map(\.line) == ["ok    texts: none in other locales"])
    let texts = [ExaminedText(kind: "claimed", locale: "de"), ExaminedText(kind: "claimed", locale: "fr")]
    #expect(TextCheck.judge(texts).map(\.line) == ["ok    texts: claimed (de, fr)"])
    let gone = [
      ExaminedText(kind: "gone", locale: "de", isUnwatched: true),
      ExaminedText(kind: "gone", locale: "fr", isUnwatched: true),
    ]
    #expect(
      TextCheck.judge(texts + gone).map(\.line) == [
        "warn  texts: gone is not watched, and has texts in de, fr. To do: watch it, or take them away: "
          + "tacet.unlocalise('gone')"
      ])
    let missing = [ExaminedText(kind: "claimed", locale: "de", missingColumn: "note")]
    #expect(
      TextCheck.judge(missing).map(\.line) == [
        "warn  texts: claimed in de has {note}, which the kind's own texts do not have. To do: write the text anew with "
          + "tacet.localise; until then nothing stands in that place"
      ])
  }
}
