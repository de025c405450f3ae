/// A piece of a page. What stands in the source is markup; every value that is put in becomes text.
///
///     let cell: HTML = "<td title=\"\(reason)\">\(count)</td>"
///
/// So nothing reaches a page unescaped, and what the compiler does not know cannot be named. Attributes stand in double
/// quotes, always: five characters are escaped, and they are enough there and between tags, and nowhere else.
struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
  /// Markup, as it is sent.
  private(set) var markup: String

  init(stringLiteral value: String) { markup = value }

  init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

  /// Nothing.
  static let none: HTML = ""

  static func + (a: HTML, b: HTML) -> HTML { "\(a)\(b)" }

  /// What a literal gathers.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { markup += literal }

    /// Puts in another piece.
    mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

    /// Puts in pieces, one after the other.
    mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { markup += piece.markup }
    }

    /// Puts in text.
    mutating func appendInterpolation(_ text: String) {
      for character in text.unicodeScalars {
        switch character {
        case "&": markup += "&amp;"
        case "<": markup += "&lt;"
        case ">": markup += "&gt;"
        case "\"": markup += "&quot;"
        case "'": markup += "&#39;"
        default: markup.unicodeScalars.append(character)
        }
      }
    }

    /// Puts in a whole number.
    mutating func appendInterpolation(_ number: Int) { markup += String(number) }
  }
}
