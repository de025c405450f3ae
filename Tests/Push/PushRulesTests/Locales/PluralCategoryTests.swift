import TestRepository
import Testing

@testable import PushRules

@Suite("Plurals")
struct PluralCategoryTests {
  /// Made by Babel 2.19 of CLDR's rules: a language, a category, and numbers and ranges that have it.
  private static func cases() throws -> [(locale: LocaleTag, category: PluralCategory, numbers: [ClosedRange<Int>])] {
    let text = try Repository.text("Tests/Push/PushRulesTests/Locales/plural-cases.txt")
    return try text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      let numbers = words[2].split(separator: ",").map { range in
        let ends = range.split(separator: "-").compactMap { Int($0) }
        return ends[0]...ends[ends.count - 1]
      }
      return (
        try #require(LocaleTag(words[0])), try #require(PluralCategory(rawValue: String(words[1]))), numbers
      )
    }
  }

  @Test("whole numbers have the category that CLDR gives them, in 57 languages")
  func table() throws {
    let cases = try Self.cases()
    #expect(Set(cases.map(\.locale)).count == 57)
    var count = 0
    for (locale, category, numbers) in cases {
      for number in numbers.joined() {
        count += 1
        let found = PluralCategory(of: number, in: locale)
        if found != category { Issue.record("\(locale.text) \(number): \(found), not \(category)") }
      }
    }
    #expect(count == 57 * 231)
  }

  @Test("a region and a script have the rules of their language, and a language without rules has one form")
  func inherited() throws {
    func category(_ count: Int, _ locale: String) throws -> PluralCategory {
      PluralCategory(of: count, in: try #require(LocaleTag(locale)))
    }
    #expect(try category(2, "ru-KZ") == .few && category(2, "sr-Latn-BA") == .few)
    #expect(try category(0, "pt-AO") == .other && category(0, "pt-BR") == .one)
    #expect(try category(1, "nb-NO") == .one && category(2, "iw") == .two)
    #expect(try category(1, "zh-TW") == .other && category(1, "tlh") == .other)
    #expect(try category(-1, "en") == .one && category(.min, "ar") == .few && category(.max, "en") == .other)
  }

  @Test("every language's rules can be read, and none repeats a language")
  func rules() {
    let lines = EmbeddedFiles.plurals_vocabulary.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let languages = lines.flatMap { $0.halves(at: ":").0.split(separator: " ") }
    #expect(Set(languages).count == languages.count && PluralRules.table.count == languages.count)
  }
}
