/// The words of one language that temporal references need.
///
/// Another language is another value, such as ``english``.
public struct TemporalLanguage: Sendable {
  /// Phrases by meaning. A phrase listed under several meanings has all of them.
  public typealias Vocabulary = [(meaning: WordMeaning, phrases: [String])]

  let lexicon: Lexicon
  /// Letters that turn the number directly before them into an ordinal.
  let ordinalSuffixes: Set<String>
  /// Endings to remove before a word is looked up: possessives and contracted verbs.
  let clitics: [String]
  /// Words after which a full stop does not end the sentence.
  let abbreviations: Set<String>

  /// A language from its tables.
  ///
  /// Words are compared in lower case, with straight apostrophes. A phrase is words with single spaces, or with hyphens
  /// where it is written that way. The longest phrase that matches wins. Building the tables takes about a millisecond,
  /// so keep the value.
  /// - Parameters:
  ///   - vocabulary: phrases by meaning.
  ///   - ordinalSuffixes: letters directly after a number that make it an ordinal.
  ///   - clitics: endings that a listed word may carry, including the apostrophe.
  ///   - abbreviations: words, without their full stop, after which a full stop does not end the sentence.
  public init(
    vocabulary: Vocabulary,
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

extension TemporalLanguage {
  /// A vocabulary from texts with commas between phrases.
  static func vocabulary(_ table: KeyValuePairs<WordMeaning, String>) -> Vocabulary {
    table.map { (meaning: $0.key, phrases: phrases($0.value)) }
  }

  static func phrases(_ text: String) -> [String] { text.split(separator: ", ").map(String.init) }
}

/// The phrases of a language as a tree of words. One walk finds the longest phrase at a position.
struct Lexicon: Sendable {
  private struct Node {
    var next: [String: Int] = [:]
    var meanings: [WordMeaning] = []
  }

  /// The first is the root.
  private var nodes = [Node()]

  init(vocabulary: TemporalLanguage.Vocabulary) {
    for (meaning, phrases) in vocabulary {
      for phrase in phrases { insert(phrase, meaning) }
    }
  }

  /// The longest phrase that begins at `start`, and its meanings.
  ///
  /// Reads at most as many tokens as the longest phrase of the language has.
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
