/// Letters without their accents.
///
/// The scalars' names of the Unicode standard tell which letter an accented one is made from: `LATIN SMALL LETTER E WITH
/// ACUTE`. Unlike a canonical decomposition this also knows ø and ł.
enum BaseLetters {
  /// The letter under the accents of a lower-case one; itself when it has none.
  static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    accented[scalar] ?? scalar
  }

  /// Found once. The Cyrillic two have names of their own; people leave their marks off all the same.
  private static let accented: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = ["ё": "е", "й": "и"]
    for range in scripts {
      let letters = range.compactMap(Unicode.Scalar.init)
      let named = Dictionary(letters.compactMap { letter in letter.properties.name.map { ($0, letter) } }) { one, _ in
        one
      }
      for (name, letter) in named {
        if let base = baseName(of: name).flatMap({ baseLetters[$0] ?? named[$0] }) { bases[letter] = base }
      }
    }
    return bases
  }()

  private static let scripts: [ClosedRange<UInt32>] = [
    0x00C0...0x024F, 0x0370...0x03FF, 0x0400...0x04FF, 0x1E00...0x1EFF, 0x1F00...0x1FFF,
  ]

  /// Those that accented letters of another block are made from.
  private static let baseLetters: [String: Unicode.Scalar] = {
    let values = Array(UInt32(0x61)...0x7A) + Array(0x03B1...0x03C9)
    let letters = values.compactMap(Unicode.Scalar.init)
    return Dictionary(letters.compactMap { letter in letter.properties.name.map { ($0, letter) } }) { one, _ in one }
  }()

  /// What stands before ` WITH `; nil when nothing does.
  private static func baseName(of name: String) -> String? {
    name.firstRange(of: " WITH ").map { String(name[..<$0.lowerBound]) }
  }
}
