/// The outer form of the names in the IANA time zone database, as its `theory.html` has it: ASCII letters, digits, `_`, `+`
/// and `-`, in components with `/` between. As a path it cannot leave the folder it is looked up in.
enum ZoneName {
  /// The most bytes taken; the longest name has 32.
  static let bytesMax = 64

  /// The folder of the zones that count leap seconds, which Unix time does not.
  private static let withLeapSeconds = "right"

  static func isWellFormed(_ name: String) -> Bool {
    guard name.utf8.count <= bytesMax else { return false }
    let components = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return components.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isOfZoneName) }
      && !components[0].elementsEqual(withLeapSeconds.utf8)
  }
}

extension UInt8 {
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isOfZoneName: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
  }
}
