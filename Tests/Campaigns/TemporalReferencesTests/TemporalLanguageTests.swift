import Foundation
import TemporalReferences
import Testing

/// A few words of German: nothing else is needed for another language.
private let german = TemporalLanguage(
  vocabulary: [
    (.day(offset: 1), ["morgen"]), (.weekday(5), ["freitag"]), (.selector(.next), ["nächsten", "nächste"]),
    (.number(2), ["zwei"]), (.unit(.day), ["tagen"]), (.unit(.week), ["woche"]), (.ahead, ["in"]), (.ago, ["vor"]),
    (.on, ["am"]), (.at, ["um"]), (.hourMark, ["uhr"]), (.event("interview"), ["vorstellungsgespräch"]),
    (.event("exam"), ["prüfung"]), (.futureSense, ["habe", "ist"]), (.cancellation, ["fällt aus", "abgesagt"]),
    (.negation, ["keine", "kein"]), (.idiom, ["ich"]),
  ])

@Suite("Another language")
struct TemporalLanguageTests {
  @Test(
    "a table is all that a language needs",
    arguments: [
      ("Morgen habe ich ein Vorstellungsgespräch", "2026-03-12 day interview upcoming sure"),
      ("Meine Prüfung ist am Freitag", "2026-03-13 day exam upcoming sure"),
      ("Meine Prüfung ist in zwei Tagen", "2026-03-13 day exam upcoming sure"),
      ("Die Prüfung vor zwei Tagen", "2026-03-09 day exam past unsure"),
      ("Meine PRÜFUNG ist morgen um 15 Uhr", "2026-03-12T15:00 minute exam upcoming sure"),
      ("Nächste Woche habe ich Prüfung", "2026-03-16..2026-03-23 week exam upcoming unsure"),
      ("Morgen habe ich keine Prüfung", "2026-03-12 day exam cancelled unsure"),
      ("Meine Prüfung ist morgen. Die Prüfung ist abgesagt.", "2026-03-12 day exam cancelled unsure"),
    ])
  func germanTable(text: String, expected: String) throws {
    let setting = try Setting("2026-03-11T10:00 Europe/Berlin dmy")
    let found = TemporalReferenceFinder(language: german)
      .reading(of: text, writtenAt: setting.writtenAt, zone: setting.rules, dateOrder: setting.order).references
    let expected = try ExpectedReference(expected, zone: setting.zone)
    #expect(found.map { ExpectedReference($0, zone: setting.zone) } == [expected])
  }

  @Test("a text of another language has no references")
  func otherLanguage() throws {
    let setting = try Setting("2026-03-11T10:00 Europe/Berlin dmy")
    #expect(setting.references(in: "Ich freue mich auf die Prüfung übermorgen").isEmpty)
  }
}
