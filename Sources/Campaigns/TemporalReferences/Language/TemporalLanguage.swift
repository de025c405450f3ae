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
