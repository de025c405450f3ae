/// The words of a text in order, without case, accents, apostrophes and punctuation: `Don’t` and `dont` are one.
///
/// A stretch of a script without spaces is one word.
struct FoldedWords: Equatable {
  let words: [String]

  init(_ text: String) {
    var words: [String] = []
    var word = ""
    for scalar in text.unicodeScalars {
      switch FoldedScalar(scalar) {
      case .letter(let letter): word.unicodeScalars.append(letter)
      case .nothing: continue
      case .separator:
        if !word.isEmpty { words.append(word) }
        word = ""
      }
    }
    if !word.isEmpty { words.append(word) }
    self.words = words
  }
}
