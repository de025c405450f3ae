import Foundation
import TemporalReferences
import Testing

@Suite("Another language")
struct TemporalLanguageTests {
  @Test(
    "German is read as the table says",
    arguments: [
      ("Morgen habe ich ein Vorstellungsgespräch", "2026-03-12 day interview upcoming sure"),
      ("Meine Prüfung ist am Freitag", "2026-03-13 day exam upcoming sure"),
      ("Meine Prüfung ist in zwei Tagen", "2026-03-13 day exam upcoming sure"),
      ("Die Prüfung vor zwei Tagen", "2026-03-09 day exam past unsure"),
      ("Meine PRÜFUNG ist morgen um 15 Uhr", "2026-03-12T15:00 minute exam upcoming sure"),
      ("Die Matheklausur ist am 20.4. um halb neun", "2026-04-20T08:30 minute exam upcoming sure"),
      ("Am 20. April habe ich Prüfung", "2026-04-20 day exam upcoming sure"),
      ("Am Donnerstag in einer Woche ist die Operation", "2026-03-19 day surgery upcoming sure"),
      ("Nächste Woche habe ich Prüfung", "2026-03-16..2026-03-23 week exam upcoming unsure"),
      ("Morgen habe ich keine Prüfung", "2026-03-12 day exam cancelled unsure"),
      ("Meine Prüfung ist morgen. Die Prüfung ist abgesagt.", "2026-03-12 day exam cancelled unsure"),
    ])
  func german(text: String, expected: String) throws {
    let setting = try Setting("2026-03-11T10:00 Europe/Berlin dmy")
    let found = TemporalReferenceFinder(language: .german)
      .reading(of: text, writtenAt: setting.writtenAt, zone: setting.rules, dateOrder: setting.order).references
    let expected = try ExpectedReference(expected, zone: setting.zone)
    #expect(found.map { ExpectedReference($0, zone: setting.zone) } == [expected])
  }

  @Test("a text of another language has no references")
  func otherLanguage() throws {
    let setting = try Setting("2026-03-11T10:00 Europe/Berlin dmy")
    #expect(setting.references(in: "Ich freue mich auf die Prüfung übermorgen").isEmpty)
  }

  @Test("a table of one's own is lines of meanings, comments and settings")
  func ownTable() throws {
    let setting = try Setting("2026-03-11T10:00 Europe/Paris dmy")
    let french = TemporalLanguage(
      table: """
        # Un peu de français.
        day 1: demain
        event exam: examen,
          partiel
        futureSense: est
        """)
    let found = TemporalReferenceFinder(language: french)
      .reading(of: "Le partiel est demain", writtenAt: setting.writtenAt, zone: setting.rules, dateOrder: setting.order)
    #expect(found.references.map(\.event) == ["exam"])
    #expect(found.references.first?.doubts.isEmpty == true)
  }
}
