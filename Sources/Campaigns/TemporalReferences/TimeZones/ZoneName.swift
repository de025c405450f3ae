/// The outer form of the names in the IANA time zone database, as its `theory.html` has it: ASCII letters, digits, `_`, `+`
/// and `-`, in components with `/` between. As a path it cannot leave the folder it is looked up in.
package enum ZoneName {
  /// The most bytes taken; the longest name has 32.
  static let bytesMax = 64

  /// The folder of the zones that count leap seconds, which Unix time does not.
  private static let withLeapSeconds = "right"

  /// Whether a text has this form and is not of a zone that counts leap seconds.
  static func isWellFormed(_ name: String) -> Bool {
    hasSyntax(name) && !name.utf8.prefix { $0 != UInt8(ascii: "/") }.elementsEqual(withLeapSeconds.utf8)
  }

  /// Whether a text has this form. Which zones exist is another question.
  package static func hasSyntax(_ name: String) -> Bool {
    name.utf8.count <= bytesMax
      && name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isOfZoneName) }
  }
}

extension UInt8 {
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isOfZoneName: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
  }
}
