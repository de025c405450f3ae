internal import TemporalReferences

/// The outer form of BCP 47 language tags: letters, then parts of letters and digits, 1 to 8 of them each, with hyphens
/// between. Whether a tag exists is not checked.
enum LanguageTag {
  /// The most bytes taken; RFC 5646 section 4.4.1 finds 35 enough for every tag in use.
  static let bytesMax = 85

  /// A tag as apps write it: also as POSIX and Java do, `zh_Hans` and `de_DE.UTF-8@euro`. Nil for what is none.
  static func read(_ text: String) -> String? {
    let bare = text.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
    guard bare.count <= bytesMax, let tag = String(bare)?.replacing("_", with: "-") else { return nil }
    return isWellFormed(tag) ? tag : nil
  }

  static func isWellFormed(_ text: String) -> Bool {
    guard text.utf8.count <= bytesMax else { return false }
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(\.isLetterOrDigit) }
      && parts[0].allSatisfy(\.isLetter)
  }
}

/// The outer form of time zones' names, which begin with a letter. Which of them exist is asked of PostgreSQL.
enum TimeZoneName {
  static func isWellFormed(_ text: String) -> Bool {
    text.utf8.first?.isLetter == true && ZoneName.hasSyntax(text)
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }

  fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
