import Foundation
import Testing

@testable import TemporalReferences

@Suite("The finder")
struct TemporalReferenceFinderTests {
  private let setting: Setting

  init() throws {
    setting = try Setting("2026-03-11T10:00 America/New_York mdy")
  }

  @Test("a reference says when the message was written")
  func writtenAt() throws {
    let reference = try #require(setting.references(in: "Ünïcödé 🎉: my exam is on March 15th, wish me luck").first)
    #expect(reference.event == "exam" && reference.writtenAt == setting.writtenAt)
  }

  @Test("no more references are returned than wanted, and cancellations behind them still count")
  func bounded() {
    let finder = TemporalReferenceFinder(referencesMax: 2)
    let text = "Exam tomorrow. Flight on Friday. Meeting on Saturday. The flight got cancelled."
    let reading = finder.reading(
      of: text, writtenAt: setting.writtenAt, zone: setting.rules, dateOrder: setting.order)
    let found = reading.references
    #expect(found.map(\.event) == ["exam", "flight"])
    #expect(found.map(\.standing) == [.upcoming, .cancelled])
  }

  @Test("an event is a word of the language's table and never text of the message")
  func privacy() throws {
    let text = "I have to talk to Melinda Katzenberg about the merger tomorrow"
    #expect(setting.references(in: text).map(\.event) == ["conversation"])
  }

  @Test("the same words mean the same days however long ago they were written")
  func oldMessage() throws {
    let old = try Setting("2019-06-01T10:00 Asia/Kathmandu dmy")
    let reference = try #require(old.references(in: "exam tomorrow").first)
    #expect(try reference.start == CivilText.instant("2019-06-02", in: old.zone))
  }

  @Test("confidence falls from what is clear to what is gone")
  func confidenceOrder() {
    let texts = [
      "My exam is tomorrow", "exam Friday!", "I have an exam. It's tomorrow", "My exam is next week",
      "I am free tomorrow", "Maybe an exam tomorrow", "exam tomorrow is cancelled",
    ]
    let confidences = texts.compactMap { setting.references(in: $0).last?.confidence }
    #expect(confidences.count == texts.count)
    #expect(zip(confidences, confidences.dropFirst()).allSatisfy { $0 > $1 }, "\(confidences)")
    #expect(confidences.allSatisfy { (0...1).contains($0) })
  }

  @Test(
    "an event without a time that is called off is named, unless it is to come at another",
    arguments: [
      ("The presentation got cancelled.", ["presentation"]), ("There is no interview after all.", ["interview"]),
      ("The interview was postponed.", ["interview"]), ("My presentation is tomorrow.", []),
      ("The interview tomorrow is cancelled.", []),
      ("The interview got cancelled. The new interview is on Friday.", []),
      ("It got cancelled.", []),
    ] as [(String, Set<String>)])
  func calledOff(text: String, events: Set<String>) throws {
    let zone = try #require(ZoneDirectory.system.rules(of: "Europe/Berlin"))
    let reading = TemporalReferenceFinder().reading(
      of: text, writtenAt: Date(timeIntervalSince1970: 1_800_000_000), zone: zone, dateOrder: .dayMonthYear)
    #expect(reading.calledOff == events)
  }
}

@Suite("The order of dates in digits")
struct NumericDateOrderTests {
  @Test(
    "the region of a locale decides, or its language's largest",
    arguments: [
      ("en_US", NumericDateOrder.monthDayYear), ("en-US", .monthDayYear), ("en", .monthDayYear),
      ("en_GB", .dayMonthYear), ("en-AU", .dayMonthYear), ("en_us", .monthDayYear), ("es_PR", .monthDayYear),
      ("de", .dayMonthYear), ("de_DE", .dayMonthYear), ("zh-Hant-TW", .yearMonthDay), ("ja", .yearMonthDay),
      ("en_US@calendar=gregorian", .monthDayYear), ("en_US.UTF-8", .monthDayYear), ("en-CA", .dayMonthYear),
      ("", .dayMonthYear), ("_", .dayMonthYear), ("US", .dayMonthYear), ("en-Latn", .monthDayYear),
    ])
  func order(locale: String, expected: NumericDateOrder) {
    #expect(NumericDateOrder(localeIdentifier: locale) == expected)
  }
}

@Suite("Days on which clocks change")
struct DaylightSavingTests {
  @Test(
    "a day is as long as its zone makes it",
    arguments: [
      ("2026-03-07T12:00 America/New_York mdy", 23.0), ("2026-10-31T12:00 America/New_York mdy", 25),
      ("2026-03-11T12:00 America/New_York mdy", 24), ("2026-03-28T12:00 Europe/Berlin dmy", 23),
      ("2026-10-24T12:00 Europe/Berlin dmy", 25), ("2026-10-03T12:00 Australia/Lord_Howe dmy", 23.5),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", 24.5), ("2026-03-28T12:00 Asia/Kathmandu dmy", 24),
      ("2018-11-03T12:00 America/Sao_Paulo dmy", 23), ("2018-02-16T12:00 America/Sao_Paulo dmy", 25),
      ("2011-12-28T12:00 Pacific/Apia dmy", 24),
    ])
  func dayLength(setting: String, hours: Double) throws {
    let reference = try #require(Setting(setting).references(in: "exam tomorrow").first)
    #expect(reference.end.timeIntervalSince(reference.start) == hours * 3600)
  }

  @Test("a day that its zone never had is empty and begins with the next one")
  func skippedDay() throws {
    let setting = try Setting("2011-12-28T12:00 Pacific/Apia dmy")
    let skipped = try #require(setting.references(in: "exam in two days").first)
    let next = try #require(setting.references(in: "exam in three days").first)
    #expect(skipped.start == skipped.end)
    #expect(skipped.end == next.start)
  }

  @Test(
    "a time that clocks skip has the offset before the change, one shown twice is the first",
    arguments: [
      ("2026-03-07T12:00 America/New_York mdy", "2:30am", "2026-03-08T07:30Z"),
      ("2026-10-31T12:00 America/New_York mdy", "1:30am", "2026-11-01T05:30Z"),
      ("2026-03-28T12:00 Europe/Berlin dmy", "02:00", "2026-03-29T01:00Z"),
      ("2026-10-24T12:00 Europe/Berlin dmy", "02:59", "2026-10-25T00:59Z"),
      ("2026-10-24T12:00 Europe/Berlin dmy", "03:00", "2026-10-25T02:00Z"),
      ("2026-10-03T12:00 Australia/Lord_Howe dmy", "02:29", "2026-10-03T15:59Z"),
      ("2026-10-03T12:00 Australia/Lord_Howe dmy", "02:30", "2026-10-03T15:30Z"),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", "01:30", "2026-04-04T14:30Z"),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", "02:00", "2026-04-04T15:30Z"),
      ("2018-11-03T12:00 America/Sao_Paulo dmy", "00:30", "2018-11-04T03:30Z"),
      ("2018-02-16T12:00 America/Sao_Paulo dmy", "23:30", "2018-02-18T01:30Z"),
    ])
  func changedTimes(setting: String, time: String, instant: String) throws {
    let setting = try Setting(setting)
    let reference = try #require(setting.references(in: "exam tomorrow at \(time)").first)
    #expect(try reference.start == CivilText.instant(instant, in: setting.zone))
  }
}

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

@Suite("The tokenizer")
struct TokenizerTests {
  private func texts(_ text: String) -> [String] {
    var tokenizer = Tokenizer(text)
    var texts: [String] = []
    while let token = tokenizer.next() { texts.append(token.text) }
    return texts
  }

  @Test(
    "words are lower case, numbers keep their groups, and what is too long has no text",
    arguments: [
      ("It's 3:30 P.M.", ["it's", "3:30", "pm"]), ("Don\u{2019}t", ["don't"]),
      ("one-on-one", ["one", "-", "on", "-", "one"]), ("2026-03-15", ["2026-3-15"]), ("1,000", [""]), ("1.2.3.4", [""]),
      ("2/20-2/22", ["2/20", "-", "2/22"]), ("555-123-4567", ["555-123-4567"]), ("12345", [""]),
      ("15th", ["15", "th"]),
      ("e\u{301}te\u{301}", ["e\u{301}te\u{301}"]), ("ÜBER", ["über"]), ("'quoted'", ["quoted"]),
      ("\u{301}\u{301}", []), ("", []), ("  \u{A0}\t", []), ("3–5", ["3-5"]), ("e.g. this", ["eg", "this"]),
      ("end.", ["end", ""]), ("😀", [""]), (String(repeating: "a", count: 41), [""]),
    ])
  func tokens(text: String, expected: [String]) {
    #expect(texts(text) == expected)
  }
}
