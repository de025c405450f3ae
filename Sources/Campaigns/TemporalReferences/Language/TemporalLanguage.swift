/// The words of one language, as far as temporal references need them.
///
/// Another language is another value: see ``english`` for one.
public struct TemporalLanguage: Sendable {
  /// Phrases and what they mean.
  let lexicon: Lexicon
  /// Letters that make an ordinal of the number they follow directly.
  let ordinalSuffixes: Set<String>
  /// Endings of a word that may be taken off to find it: possessives and contracted verbs.
  let clitics: [String]
  /// Words after which a full stop does not end the sentence.
  let abbreviations: Set<String>

  /// A language from its tables.
  ///
  /// Words are compared in lower case, with straight apostrophes. A phrase is several words with single spaces, or with
  /// hyphens where it is written so; the longest that fits a text is taken. Building the tables takes about a
  /// millisecond, so keep the value.
  /// - Parameters:
  ///   - vocabulary: phrases by meaning. A phrase listed under several has all of them.
  ///   - ordinalSuffixes: letters directly after a number that make it an ordinal.
  ///   - clitics: endings that a listed word may carry, apostrophe included.
  ///   - abbreviations: words after which a full stop does not end the sentence, without it.
  public init(
    vocabulary: [(meaning: WordMeaning, phrases: [String])],
    ordinalSuffixes: Set<String> = [],
    clitics: [String] = [],
    abbreviations: Set<String> = []
  ) {
    lexicon = Lexicon(vocabulary: vocabulary)
    self.ordinalSuffixes = ordinalSuffixes
    self.clitics = clitics
    self.abbreviations = abbreviations
  }
}

/// Phrases of a language in a tree of words, so that the longest phrase at a place is found in one walk.
struct Lexicon: Sendable {
  private struct Node {
    var next: [String: Int] = [:]
    var meanings: [WordMeaning] = []
  }

  /// The first is the root.
  private var nodes = [Node()]

  init(vocabulary: [(meaning: WordMeaning, phrases: [String])]) {
    for (meaning, phrases) in vocabulary {
      for phrase in phrases { insert(phrase, meaning) }
    }
  }

  /// The longest phrase that `tokens` begin with from `start` on, and what it means.
  ///
  /// Looks at no more tokens than the longest phrase of the language has.
  func longestPhrase(in tokens: [Token], from start: Int) -> Parsed<[WordMeaning]>? {
    var longest: Parsed<[WordMeaning]>?
    var node = 0
    var index = start
    while index < tokens.count, let next = nodes[node].next[tokens[index].text] {
      node = next
      index += 1
      if !nodes[node].meanings.isEmpty { longest = Parsed(nodes[node].meanings, end: index) }
    }
    return longest
  }

  /// What one word means; empty when it is not listed by itself.
  func meanings(of word: String) -> [WordMeaning] {
    nodes[0].next[word].map { nodes[$0].meanings } ?? []
  }

  /// Phrases are cut by the reader of texts, so that both cut alike.
  private mutating func insert(_ phrase: String, _ meaning: WordMeaning) {
    var node = 0
    var tokenizer = Tokenizer(phrase)
    while let token = tokenizer.next() {
      precondition(!token.text.isEmpty, "\(phrase) cannot be found in a text")
      node = child(of: node, for: token.text)
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
