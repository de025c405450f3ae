/// A text with names in braces, such as `Your {event} is {when}.`
package struct TextTemplate: Hashable, Sendable {
  private enum Piece: Hashable {
    case words(String)
    case name(String)
  }

  private let pieces: [Piece]

  /// Reads any text. A brace that begins no name is kept.
  /// - Parameter isName: whether what is between two braces is a name.
  package init(_ text: String, isName: (String) -> Bool = { _ in true }) {
    var pieces: [Piece] = []
    // Scalars, because a brace and a combining mark after it are one character.
    var rest = text.unicodeScalars[...]
    while let open = rest.firstIndex(of: "{") {
      let inside = rest[open...].dropFirst()
      guard let end = inside.firstIndex(where: { $0 == "{" || $0 == "}" }), inside[end] == "}", end > inside.startIndex,
        isName(String(inside[..<end]))
      else {
        pieces.append(.words(String(rest[...open])))
        rest = inside
        continue
      }
      pieces += [.words(String(rest[..<open])), .name(String(inside[..<end]))]
      rest = inside[end...].dropFirst()
    }
    self.pieces = pieces + [.words(String(rest))]
  }

  package var names: Set<String> {
    Set(pieces.compactMap { if case .name(let name) = $0 { name } else { nil } })
  }

  /// What stands outside of names.
  package var words: String {
    pieces.reduce(into: "") { if case .words(let words) = $1 { $0 += words } }
  }

  /// The text with its values. Braces in values are no names.
  /// - Parameter absent: in place of a name without a value.
  /// - Returns: also how often a name has no value.
  package func filled(with values: [String: String], absent: String = "") -> (text: String, missing: Int) {
    var text = FilledText()
    var missing = 0
    for piece in pieces {
      switch piece {
      case .words(let words): text.append(words: words)
      case .name(let name):
        if values[name] == nil { missing += 1 }
        text.append(value: values[name] ?? absent)
      }
    }
    return (text.text, missing)
  }
}
