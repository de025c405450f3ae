/// The sentences of a text, one after the other.
struct SentenceReader {
  /// The most tokens of one sentence. Everything within a sentence is bounded by this, so the whole is linear in the
  /// text. Several times the longest sentence people write in a chat; a longer run is cut here, and a phrase across the cut
  /// is lost.
  static let tokensMax = 128

  private var tokenizer: Tokenizer
  private let abbreviations: Set<String>

  init(_ text: String, abbreviations: Set<String>) {
    tokenizer = Tokenizer(text)
    self.abbreviations = abbreviations
  }

  /// The tokens of the next sentence without its end, and whether it asks; nil at the end of the text.
  mutating func next() -> (tokens: [Token], isQuestion: Bool)? {
    var tokens: [Token] = []
    while tokens.count < Self.tokensMax, let token = tokenizer.next() {
      guard case .terminator(let isQuestion, let isFullStop) = token.kind else {
        tokens.append(token)
        continue
      }
      if tokens.isEmpty || isFullStop && abbreviates(tokens[tokens.count - 1], before: token) { continue }
      return (tokens, isQuestion)
    }
    return tokens.isEmpty ? nil : (tokens, false)
  }

  /// Whether the full stop belongs to the word before it.
  private func abbreviates(_ word: Token, before stop: Token) -> Bool {
    stop.isAdjacent && word.kind == .word && abbreviations.contains(word.text)
  }
}
