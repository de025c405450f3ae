/// A piece of a page. Literals of the source are markup; every interpolated value becomes text.
///
///     let cell: HTML = "<td title=\"\(reason)\">\(count)</td>"
///
/// So nothing reaches a page unescaped, and what the compiler does not know cannot be named. Attributes are always in double
/// quotes: five characters are escaped, and they are enough there and between tags, and nowhere else.
struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
  private(set) var markup: String

  init(stringLiteral value: String) { markup = value }

  init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

  static let none: HTML = ""

  static func + (a: HTML, b: HTML) -> HTML { "\(a)\(b)" }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { markup += literal }

    mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

    mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { markup += piece.markup }
    }

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

    mutating func appendInterpolation(_ number: Int) { markup += String(number) }
  }
}

/// A table that changes its shape where there is no room for it: its roles are named, because a browser that lays cells
/// out as blocks may no longer tell them.
struct Table {
  struct Column {
    let title: String
    var isNumber = false
    /// What the styles know it by.
    var name = ""
  }

  /// What becomes of a row on a phone.
  enum Shape: String {
    case row
    /// A list of titles and values.
    case card
    /// Three lines without titles, placed by the names of the columns.
    case entry
  }

  /// What it shows; read out before it.
  let caption: String
  var shape = Shape.card
  let columns: [Column]
  var rows: [[HTML]] = []
  /// What is said when there are no rows.
  let empty: String

  var html: HTML {
    guard !rows.isEmpty else { return "<p class=\"empty\">\(empty)</p>" }
    let head = columns.map { column -> HTML in
      "<th role=\"columnheader\" scope=\"col\" class=\"\(Self.kind(column))\">\(column.title)</th>"
    }
    let body = rows.map { cells -> HTML in
      let cells = zip(columns, cells).map { column, cell -> HTML in
        "<td role=\"cell\" data-label=\"\(column.title)\" class=\"\(Self.kind(column))\">\(cell)</td>"
      }
      return "<tr role=\"row\">\(cells)</tr>\n"
    }
    return """
      <table role="table" class="\(shape.rawValue)">
      <caption class="unseen">\(caption)</caption>
      <thead role="rowgroup"><tr role="row">\(head)</tr></thead>
      <tbody role="rowgroup">
      \(body)</tbody>
      </table>
      """
  }

  private static func kind(_ column: Column) -> String {
    [column.isNumber ? "number" : "", column.name].filter { !$0.isEmpty }.joined(separator: " ")
  }
}
