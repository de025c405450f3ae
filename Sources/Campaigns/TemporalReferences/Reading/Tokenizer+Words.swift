extension Tokenizer {
  /// Reads a word: letters with their marks, apostrophes between letters, and full stops between single letters, which
  /// are dropped, so that `p.m.` is `pm`.
  mutating func readWord() -> (Token.Kind, String) {
    var word = String.UnicodeScalarView()
    var scalarsRead = 0
    while let scalar = scalar(), continuesWord(scalar, after: scalarsRead) {
      if scalar != ".", scalarsRead < Self.wordScalarsMax { word.append(lowercased: scalar) }
      scalarsRead += 1
      advance()
    }
    guard scalarsRead <= Self.wordScalarsMax else { return (.opaque, "") }
    return (.word, String(word))
  }

  private func continuesWord(_ scalar: Unicode.Scalar, after scalarsRead: Int) -> Bool {
    if scalar.isLetter || scalar.isMark { return true }
    if scalar.isApostrophe { return self.scalar(ahead: 1)?.isLetter == true }
    return scalar == "." && isInitialism(after: scalarsRead)
  }

  /// Whether the full stop here abbreviates: it follows a single letter, and a single letter follows it or went before.
  private func isInitialism(after scalarsRead: Int) -> Bool {
    guard scalarsRead % 2 == 1, scalarsRead < Self.wordScalarsMax else { return false }
    if scalarsRead > 1 { return scalars[position - 2] == "." }
    return scalar(ahead: 1)?.isLetter == true && scalar(ahead: 2) == "."
  }
}

extension String.UnicodeScalarView {
  /// Appends in lower case, with a straight apostrophe.
  fileprivate mutating func append(lowercased scalar: Unicode.Scalar) {
    if scalar.isApostrophe {
      append("'")
    } else if scalar.value < 0x80 {
      append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
    } else {
      append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
    }
  }
}
