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
