/// Words that Tacet itself puts into a push, in the locales that it knows.
package struct TacetWords: Sendable {
  package enum Name: String, CaseIterable, Sendable {
    /// In place of a message whose words are not shown: `New message`.
    case newMessage = "new_message"
    /// The same for a push that is no message: `New notification`.
    case newNotification = "new_notification"
    /// That a notification stands for further messages: `+4 more`.
    case more
  }

  private struct Key: Hashable {
    let locale: String
    let name: Name
    let category: PluralCategory
  }

  private var texts: [Key: String] = [:]

  /// Tacet's own, which are a part of the program, so a mistake in them traps.
  package static let builtIn: TacetWords = {
    var words = TacetWords()
    for line in EmbeddedFiles.words_vocabulary.split(separator: "\n") where !line.hasPrefix("#") {
      let (head, text) = line.halves(at: ":")
      let parts = head.split(separator: " ").map(String.init)
      guard let locale = LocaleTag(parts[0]), let name = Name(rawValue: parts[1]),
        let category = PluralCategory(rawValue: parts.count > 2 ? parts[2] : "other")
      else { preconditionFailure("not a word of Tacet's: \(line)") }
      words.set(name, to: String(text.drop { $0 == " " }), for: category, in: locale)
    }
    return words
  }()

  private init() {}

  /// Takes a host's text in place of Tacet's own.
  /// - Parameter text: `{n}` is replaced by the number.
  package mutating func set(_ name: Name, to text: String, for category: PluralCategory = .other, in locale: LocaleTag)
  {
    texts[Key(locale: locale.text, name: name, category: category)] = text
  }

  /// The text for a locale, or that of the nearest locale which has one, or the English one.
  /// - Parameters:
  ///   - count: the number, which is written in ASCII digits.
  ///   - locale: nil for a device whose locale is not known.
  package func text(_ name: Name, count: Int = 1, in locale: LocaleTag?) -> String {
    for locale in locale?.fallbacks ?? [] {
      let category = PluralCategory(of: count, in: locale)
      if let text = text(name, category, locale.text) ?? text(name, .other, locale.text) {
        return text.replacing("{n}", with: "\(count)", maxReplacements: 1)
      }
    }
    let english = text(name, count == 1 ? .one : .other, "en") ?? text(name, .other, "en") ?? ""
    return english.replacing("{n}", with: "\(count)", maxReplacements: 1)
  }

  /// The locale whose words serve for a device; nil for the English ones.
  package func choice(of name: Name, for locale: LocaleTag?) -> LocaleChoice? {
    locale.flatMap { LocaleChoice(asked: $0) { text(name, .other, $0.text) != nil } }
  }

  private func text(_ name: Name, _ category: PluralCategory, _ locale: String) -> String? {
    texts[Key(locale: locale, name: name, category: category)]
  }
}

/// The form of a sentence that goes with a number, as CLDR names them.
package enum PluralCategory: String, CaseIterable, Sendable {
  /// Latvian and Arabic for 0, for example.
  case zero
  /// English for 1.
  case one
  /// Arabic and Slovenian for 2.
  case two
  /// Polish for 3, Arabic for 7.
  case few
  /// Polish for 5, Arabic for 11, French for a million.
  case many
  /// Every other number; each language has it.
  case other

  /// The category of a whole number.
  /// - Parameter count: a negative one counts as its magnitude.
  package init(of count: Int, in locale: LocaleTag) {
    let rules = locale.fallbacks.lazy.compactMap { PluralRules.table[$0.text] }.first
    self = (rules ?? PluralRules.table[locale.language])?.category(of: count.magnitude) ?? .other
  }
}

/// The rules of one language for whole numbers.
struct PluralRules {
  /// `n = 1`, `n % 100 != 11..14`, and so on.
  private struct Relation {
    let modulus: UInt?
    let isEqual: Bool
    let ranges: [ClosedRange<UInt>]

    /// - Parameter words: `n`, maybe `%` and a number, `=` or `!=`, and ranges with commas between them.
    init(_ text: Substring) {
      let words = text.split(separator: " ")
      modulus = words.count == 5 ? UInt(words[2]) : nil
      isEqual = words[words.count - 2] == "="
      ranges = words[words.count - 1].split(separator: ",").map { range in
        let ends = range.split(separator: ".").compactMap { UInt($0) }
        precondition((1...2).contains(ends.count), "not a range: \(text)")
        return ends[0]...ends[ends.count - 1]
      }
    }

    func holds(for number: UInt) -> Bool {
      let rest = modulus.map { number % $0 } ?? number
      return ranges.contains { $0.contains(rest) } == isEqual
    }
  }

  /// A category with its condition: any of several lists, of which all relations hold.
  private let rules: [(category: PluralCategory, condition: [[Relation]])]

  /// By language, and for Portugal `pt-PT`; languages without a line have one form for all numbers. Its text is a part of the
  /// program, so a mistake in it traps.
  static let table: [String: PluralRules] = {
    var table: [String: PluralRules] = [:]
    for line in EmbeddedFiles.plurals_vocabulary.split(separator: "\n") where !line.hasPrefix("#") {
      let (languages, text) = line.halves(at: ":")
      let rules = PluralRules(text)
      for language in languages.split(separator: " ") { table[String(language)] = rules }
    }
    return table
  }()

  /// - Parameter text: rules with semicolons between them, such as `one n = 1; few n = 2..4`.
  private init(_ text: Substring) {
    rules = text.split(separator: ";").map { rule in
      let (name, condition) = rule.drop { $0 == " " }.halves(at: " ")
      guard let category = PluralCategory(rawValue: String(name)) else {
        preconditionFailure("not a category: \(rule)")
      }
      return (category, condition.split(separator: "|").map { $0.split(separator: "&").map(Relation.init) })
    }
  }

  func category(of number: UInt) -> PluralCategory {
    rules.first { $0.condition.contains { $0.allSatisfy { $0.holds(for: number) } } }?.category ?? .other
  }
}

extension Substring {
  /// What is before and after the first such character.
  func halves(at separator: Character) -> (Substring, Substring) {
    guard let index = firstIndex(of: separator) else { preconditionFailure("nothing to split: \(self)") }
    return (self[..<index], self[self.index(after: index)...])
  }
}
