/// Finds the word that was meant by a misspelt one: one letter wrong, missing, doubled or swapped with its neighbour.
///
/// Only long words that stand for a day, a month or an event are found again, and only by a word that begins with the
/// same letter and is no listed or real word itself.
struct Spelling: Sendable {
  /// The shortest name of a day or month that is corrected. *May* and *many* are too close.
  private static let namedMin = 6
  /// The shortest word for an event. Shorter ones resemble too many others.
  private static let eventMin = 9

  private var known: Set<String>
  /// Words by their first letter.
  private var targets: [Unicode.Scalar: [[Unicode.Scalar]]] = [:]

  init(realWords: Set<String>) { known = realWords }

  /// Adds a listed word.
  /// - Parameter meaning: what the word means by itself; nil for a part of a phrase.
  mutating func insert(_ word: String, aloneMeaning meaning: WordMeaning?) {
    known.insert(word)
    guard let meaning, let first = word.unicodeScalars.first, word.count >= Self.lengthMin(meaning) else { return }
    targets[first, default: []].append(Array(word.unicodeScalars))
  }

  func corrected(_ word: String) -> String? {
    guard !known.contains(word), let first = word.unicodeScalars.first, let targets = targets[first] else { return nil }
    let scalars = Array(word.unicodeScalars)
    guard scalars.count >= Self.namedMin - 1 else { return nil }
    let target = targets.first { Self.isOneEdit(scalars, $0) }
    return target.map { String(String.UnicodeScalarView($0)) }
  }

  private static func lengthMin(_ meaning: WordMeaning) -> Int {
    switch meaning {
    case .weekday, .month, .day: namedMin
    case .event: eventMin
    default: .max
    }
  }

  /// Compares what is left between the common beginning and the common end.
  private static func isOneEdit(_ word: [Unicode.Scalar], _ target: [Unicode.Scalar]) -> Bool {
    guard abs(word.count - target.count) <= 1 else { return false }
    let most = min(word.count, target.count)
    let beginning = (0..<most).first { word[$0] != target[$0] } ?? most
    let ending = (0..<most - beginning).first { word[word.count - 1 - $0] != target[target.count - 1 - $0] }
    let rest = (
      word.dropFirst(beginning).dropLast(ending ?? most - beginning),
      target.dropFirst(beginning).dropLast(ending ?? most - beginning)
    )
    switch (rest.0.count, rest.1.count) {
    case (0...1, 0...1): return true
    case (2, 2): return rest.0.elementsEqual(rest.1.reversed())
    default: return false
    }
  }
}
