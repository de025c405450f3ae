/// Finds links, addresses, and what a phone may take for one.
enum LinkCheck {
  /// Whether there is any. Four signs between characters that touch: `://` or another colon between letters, `@`, `www`
  /// before a dot, and a dot between a letter or digit and two letters. The last also finds a missing space after a full
  /// stop; such a reply is refused as well, since a phone would draw it as a link.
  static func finds(in text: String) -> Bool {
    let scalars = text.unicodeScalars.map { $0 == "\u{FF0E}" ? "." : $0 }
    return scalars.indices.contains { index in
      switch scalars[index] {
      case "@", "\u{FF20}": true
      case ":", "\u{FF1A}": isScheme(scalars[..<index], scalars[(index + 1)...])
      case ".": isDomain(scalars[..<index], scalars[(index + 1)...])
      default: false
      }
    }
  }

  private static func isScheme(_ before: ArraySlice<Unicode.Scalar>, _ after: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = after.first else { return false }
    if first == "/" { return true }
    return before.last?.properties.isAlphabetic == true && first.properties.isAlphabetic
  }

  private static func isDomain(_ before: ArraySlice<Unicode.Scalar>, _ after: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let last = before.last, after.count >= 2 else { return false }
    let isName = last.properties.isAlphabetic || last.properties.numericType != nil
    return isName && after.prefix(2).allSatisfy(\.properties.isAlphabetic)
  }
}
