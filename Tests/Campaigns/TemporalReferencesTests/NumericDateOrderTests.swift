import TemporalReferences
import Testing

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
