import Foundation
import TemporalReferences
import Testing

@Suite("The finder")
struct TemporalReferenceFinderTests {
  private let setting: Setting

  init() throws {
    setting = try Setting("2026-03-11T10:00 America/New_York mdy")
  }

  @Test("a reference says where it stands, in bytes, and when the message was written")
  func span() throws {
    let text = "Ünïcödé 🎉: my exam is on March 15th, wish me luck"
    let reference = try #require(setting.references(in: text).first)
    let bytes = Array(text.utf8)[reference.span]
    #expect(String(decoding: bytes, as: UTF8.self) == "on March 15th")
    #expect(reference.writtenAt == setting.writtenAt)
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
