/// The address of one app on one device, as the app received it from the system and registered it.
///
/// Kept as lower-case hexadecimal text: APNs takes both cases, but identifiers and uniqueness derive from one spelling. It
/// becomes part of the request path, so only hexadecimal digits get in.
package struct DeviceToken: Hashable, Sendable {
  /// The most digits. Apple promises no length (64, 108 and 160 digits are common, Live Activities use more); three times the
  /// longest in common use. A claim holds many tokens at once.
  package static let digitsMax = 512

  /// The token, lower-case hexadecimal, an even number of digits from 2 to ``digitsMax``.
  package let hexadecimal: String

  /// Takes a token in either case.
  ///
  /// - Throws: `deviceTokenMalformed` for an empty or overlong text, an odd number of digits, or any other character.
  package init(_ text: String) throws(PushRequestError) {
    let digits = text.utf8.count
    guard (2...Self.digitsMax).contains(digits), digits.isMultiple(of: 2) else {
      throw PushRequestError(
        .deviceTokenMalformed,
        "\(digits) bytes long; an even number of hexadecimal digits up to \(Self.digitsMax) is needed")
    }
    var text = text
    switch text.withUTF8({ Self.spelling(of: $0) }) {
    case .lowerCase: hexadecimal = text
    case .mixedCase: hexadecimal = text.lowercased()
    case .notHexadecimal:
      throw PushRequestError(.deviceTokenMalformed, "holds something else than hexadecimal digits")
    }
  }

  private enum Spelling {
    case lowerCase, mixedCase, notHexadecimal
  }

  /// Branch-free, so that it becomes vector instructions: every push has a token.
  private static func spelling(of digits: UnsafeBufferPointer<UInt8>) -> Spelling {
    var (isLowerCase, isHexadecimal): (UInt8, UInt8) = (1, 1)
    for digit in digits {
      let isLower = one(if: digit, isIn: "0", "9") | one(if: digit, isIn: "a", "f")
      isLowerCase &= isLower
      isHexadecimal &= isLower | one(if: digit, isIn: "A", "F")
    }
    if isLowerCase == 1 { return .lowerCase }
    return isHexadecimal == 1 ? .mixedCase : .notHexadecimal
  }

  private static func one(if digit: UInt8, isIn first: Unicode.Scalar, _ last: Unicode.Scalar) -> UInt8 {
    (UInt8(ascii: first)...UInt8(ascii: last)).contains(digit) ? 1 : 0
  }
}
