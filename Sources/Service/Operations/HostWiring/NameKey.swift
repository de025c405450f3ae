/// A name without case, punctuation and plural, so that `ChannelMembers`, `channel_members` and `channelmember` are equal.
struct NameKey: Equatable {
  let text: String

  init(_ name: String) {
    text = Self.singular(Self.plain(name))
  }

  /// The name of a column without the ending that makes it a reference: `userid`, `user_id` and `user` are `user`.
  init(column name: String) {
    let whole = Self.plain(name)
    for ending in ["uuid", "id"] where whole.hasSuffix(ending) && whole.count > ending.count {
      text = String(whole.dropLast(ending.count))
      return
    }
    text = whole
  }

  /// The name without case and punctuation alone.
  static func plain(_ name: String) -> String {
    String(name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
  }

  /// The words of a name in the singular, as underscores and capitals part them.
  static func words(of name: String) -> [String] {
    var words: [String] = []
    var isInside = false
    for character in name {
      guard character.isASCII, character.isLetter || character.isNumber else {
        isInside = false
        continue
      }
      let startsWord = !isInside || character.isUppercase && words.last?.last?.isUppercase == false
      if startsWord { words.append("") }
      words[words.count - 1].append(character)
      isInside = true
    }
    return words.map { singular($0.lowercased()) }
  }

  /// The place among words: words that are the whole name come before words that end it. Nil when it ends in no word.
  func rank(among words: [String]) -> Int? {
    if let place = words.firstIndex(of: text) { return place }
    return words.firstIndex { text.hasSuffix($0) }.map { $0 + words.count }
  }

  /// The weight of the word that it is, or one less for a word that ends it; the heaviest.
  func weight(among words: [String: Int]) -> Int {
    words.reduce(0) { best, word in
      max(best, text == word.key ? word.value : text.hasSuffix(word.key) ? word.value - 1 : 0)
    }
  }

  private static func singular(_ text: String) -> String {
    if text.hasSuffix("people") { return text.dropLast(6) + "person" }
    if text.hasSuffix("ies") { return text.dropLast(3) + "y" }
    if ["sses", "xes", "ches", "uses"].contains(where: text.hasSuffix) { return String(text.dropLast(2)) }
    if text.hasSuffix("s"), !["ss", "us", "is"].contains(where: text.hasSuffix) { return String(text.dropLast()) }
    return text
  }
}
