/// The words of one language that temporal references need, read from its table.
///
/// Another language is another table, such as `german.vocabulary`.
package struct TemporalLanguage: Sendable {
  /// British and American English.
  package static let english = Self(table: EmbeddedFiles.english_vocabulary)
  package static let german = Self(table: EmbeddedFiles.german_vocabulary)

  /// The language of a locale such as `de_AT`; English for one without a table.
  package static func ofLocale(_ identifier: String) -> Self {
    identifier.prefix { $0 != "_" && $0 != "-" }.lowercased() == "de" ? .german : .english
  }

  let lexicon: Lexicon
  /// Letters that turn the number directly before them into an ordinal.
  let ordinalSuffixes: Set<String>
  /// What letters directly after a number stand for: `p` for `pm`.
  let numberSuffixes: [String: String]
  /// Endings that make an unknown word a past verb where a verb may stand.
  let pastEndings: [String]
  /// Whether a full stop after a number makes it an ordinal, in the middle of a sentence too.
  let hasOrdinalStops: Bool
  /// Whether a word may be several, of which the last says what it is, as in *Matheklausur*.
  let hasCompounds: Bool
  /// Whether an hour with its minutes is on the clock of twenty-four hours.
  let hasTwentyFourHours: Bool
  /// Endings that a listed word may carry, including the apostrophe: possessives and contracted verbs.
  let clitics: [String]
  /// Words, without their full stop, after which a full stop does not end the sentence.
  let abbreviations: Set<String>

  /// A language from its table.
  ///
  /// A line is a meaning, or several with plus signs between them, and its phrases, or a setting. It goes on in indented
  /// lines; a number sign begins a comment. Words are compared in lower case, with straight apostrophes. A phrase under
  /// several meanings has all of them; the longest phrase that matches wins. A meaning that is none traps. Building the
  /// lexicon takes some milliseconds, so keep the value.
  /// - Parameter text: the lines.
  package init(table text: String) {
    let table = VocabularyTable(text)
    lexicon = Lexicon(vocabulary: table.vocabulary, realWords: Set(table["realWords"]))
    ordinalSuffixes = Set(table["ordinalSuffixes"])
    numberSuffixes = table["numberSuffixes"].reduce(into: [:]) { suffixes, pair in
      let parts = pair.split(separator: "=").map(String.init)
      suffixes[parts[0]] = parts[1]
    }
    pastEndings = table["pastEndings"]
    hasOrdinalStops = !table["ordinalStops"].isEmpty
    hasCompounds = !table["compounds"].isEmpty
    hasTwentyFourHours = !table["twentyFourHours"].isEmpty
    clitics = table["clitics"]
    abbreviations = Set(table["abbreviations"])
  }
}

/// The phrases of a language as a tree of words. One walk finds the longest phrase at a position.
struct Lexicon: Sendable {
  private struct Node {
    var next: [String: Int] = [:]
    var meanings: [WordMeaning] = []
  }

  /// The first is the root.
  private var nodes = [Node()]
  private var spelling: Spelling

  init(vocabulary: VocabularyTable.Vocabulary, realWords: Set<String>) {
    spelling = Spelling(realWords: realWords)
    for (meaning, phrases) in vocabulary {
      for phrase in phrases { insert(phrase, meaning) }
    }
  }

  /// The listed word that a misspelt one stands for; nil when it is listed itself or resembles none.
  func corrected(_ word: String) -> String? { spelling.corrected(word) }

  /// The longest phrase that begins at `start`, and its meanings.
  ///
  /// Reads at most as many tokens as the longest phrase of the language has.
  /// - Parameter stem: a token's word without an ending that the last word of a phrase may carry; nil without one.
  func longestPhrase(in tokens: [Token], from start: Int, stem: (Int) -> String?) -> Parsed<[WordMeaning]>? {
    var longest: Parsed<[WordMeaning]>?
    var node = 0
    var index = start
    while index < tokens.count {
      guard let next = nodes[node].next[tokens[index].text] else {
        let last = index > start ? stem(index).flatMap { nodes[node].next[$0] } : nil
        if let last, !nodes[last].meanings.isEmpty { longest = Parsed(nodes[last].meanings, end: index + 1) }
        break
      }
      node = next
      index += 1
      if !nodes[node].meanings.isEmpty { longest = Parsed(nodes[node].meanings, end: index) }
    }
    return longest
  }

  /// The meanings of one word; empty when it is not listed by itself.
  func meanings(of word: String) -> [WordMeaning] {
    nodes[0].next[word].map { nodes[$0].meanings } ?? []
  }

  /// The tokenizer that reads texts also cuts phrases, so both are cut alike.
  private mutating func insert(_ phrase: String, _ meaning: WordMeaning) {
    var node = 0
    var tokenizer = Tokenizer(phrase)
    while let token = tokenizer.next() {
      precondition(!token.text.isEmpty, "\(phrase) cannot be found in a text")
      node = child(of: node, for: token.text)
      spelling.insert(token.text, aloneMeaning: token.text.count == phrase.count ? meaning : nil)
    }
    precondition(node != 0, "an empty phrase means nothing")
    if !nodes[node].meanings.contains(meaning) { nodes[node].meanings.append(meaning) }
  }

  private mutating func child(of node: Int, for word: String) -> Int {
    if let child = nodes[node].next[word] { return child }
    nodes.append(Node())
    nodes[node].next[word] = nodes.count - 1
    return nodes.count - 1
  }
}
