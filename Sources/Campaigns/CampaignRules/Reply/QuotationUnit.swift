/// What a quotation is counted in.
///
/// Where words are parted by spaces, five in a row are one. Scripts without spaces are counted in characters instead, at
/// about the length of five words and more than the longest word in everyday use, so that naming the topic is no quotation.
enum QuotationUnit: CaseIterable {
  /// Words between spaces.
  case words
  /// Chinese characters and Japanese kana. Five Chinese words have eight to ten; プレゼンテーション alone has nine.
  case ideographs
  /// Letters of Thai, Lao, Khmer and Burmese, their marks not counted. Five words have about sixteen.
  case southEastAsianLetters

  /// The least number in a row that is a quotation.
  var runMin: Int {
    switch self {
    case .words: 5
    case .ideographs: 10
    case .southEastAsianLetters: 16
    }
  }

  /// The units of a text in order; an empty one where a run must end. Punctuation and spaces end none.
  func units(of text: String) -> [String] {
    if self == .words { return FoldedWords(text).words }
    return text.unicodeScalars.compactMap { scalar in
      guard case .letter(let letter) = FoldedScalar(scalar) else { return nil }
      return isOwn(letter) ? String(letter) : ""
    }
  }

  private func isOwn(_ letter: Unicode.Scalar) -> Bool {
    switch letter.value {
    // Kana with its long vowel mark, the two common blocks of ideographs, compatibility ideographs, the planes beyond.
    case 0x3005, 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      self == .ideographs
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: self == .southEastAsianLetters
    default: false
    }
  }
}
