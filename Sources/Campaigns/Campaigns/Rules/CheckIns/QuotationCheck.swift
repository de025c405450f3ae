/// Finds runs of units that a source shares with a reply.
///
/// Every run of the reply is in a set. Each source is read once, with one look-up where a run of known units ends. The
/// set holds the units themselves and not hashes of them, so no crafted text can cause a false match.
struct QuotationCheck {
  private let unit: QuotationUnit
  /// A number for each unit of the reply. Any other unit ends a run.
  private let numbers: [String: Int]
  private let runs: Set<ArraySlice<Int>>

  /// - Parameter parts: the texts of the reply. No run continues from one to the next.
  init(parts: [String], unit: QuotationUnit) {
    var numbers: [String: Int] = [:]
    var runs: Set<ArraySlice<Int>> = []
    for part in parts {
      let sequence = unit.units(of: part).map { text in
        if let number = numbers[text] { return number }
        numbers[text] = numbers.count
        return numbers.count - 1
      }
      for end in sequence.indices.dropFirst(unit.runMin - 1) {
        runs.insert(sequence[(end - unit.runMin + 1)...end])
      }
    }
    numbers[""] = nil
    self.unit = unit
    self.numbers = numbers
    self.runs = runs
  }

  /// Searches one source.
  /// - Returns: whether it is quoted, and the number of look-ups: at most one for each of its units.
  func search(_ source: String) -> (isQuoted: Bool, lookups: Int) {
    if runs.isEmpty { return (false, 0) }
    var lookups = 0
    var known: [Int] = []
    for text in unit.units(of: source) {
      guard let number = numbers[text] else {
        known.removeAll(keepingCapacity: true)
        continue
      }
      known.append(number)
      if known.count < unit.runMin { continue }
      lookups += 1
      if runs.contains(known.suffix(unit.runMin)) { return (true, lookups) }
    }
    return (false, lookups)
  }

  static func isAnyQuoted(of sources: [String], in parts: [String]) -> Bool {
    QuotationUnit.allCases.contains { unit in
      let check = QuotationCheck(parts: parts, unit: unit)
      return sources.contains { check.search($0).isQuoted }
    }
  }
}

/// The unit of a quotation's length.
///
/// Five words in a row are a quotation. Scripts without spaces count characters: about as many as five words have, and
/// more than the longest everyday word has, so that naming the topic is not a quotation.
enum QuotationUnit: CaseIterable {
  /// Words between spaces.
  case words
  /// Chinese characters and Japanese kana. Five Chinese words have eight to ten; プレゼンテーション alone has nine.
  case ideographs
  /// Letters of Thai, Lao, Khmer and Burmese without marks. Five words have about sixteen.
  case southEastAsianLetters

  /// The shortest run that is a quotation.
  var runMin: Int {
    switch self {
    case .words: 5
    case .ideographs: 10
    case .southEastAsianLetters: 16
    }
  }

  /// The units of a text in order, with an empty one where a run must end. Punctuation and spaces do not end a run.
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
