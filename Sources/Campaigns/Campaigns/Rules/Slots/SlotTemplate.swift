internal import PushRules

/// One text with tokens: `Day {{streak}} — your {{nickname}} rhythm`.
struct SlotTemplate: Equatable {
  /// Shown in place of a token without a value.
  static let placeholder = "[Content]"

  private enum Piece: Equatable {
    case literal(String)
    case token(String)
  }

  private let pieces: [Piece]

  /// Reads a template. Braces are only allowed around a name: `{{name}}`.
  init(_ source: String) throws(TemplateDefect) {
    if source.unicodeScalars.allSatisfy({ $0.isBlank || $0.isHidden }) { throw .empty }
    var pieces: [Piece] = []
    // Scalars, because a brace and a combining mark after it are one character.
    var rest = source.unicodeScalars[...]
    while let open = rest.firstIndex(where: \.isBrace) {
      if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
      let inside = rest[open...].dropFirst(2)
      guard rest[open...].starts(with: "{{".unicodeScalars), let close = inside.firstIndex(where: \.isBrace),
        inside[close...].starts(with: "}}".unicodeScalars)
      else { throw .unmatchedBrace }
      pieces.append(.token(try Self.name(String(inside[..<close]))))
      rest = inside[close...].dropFirst(2)
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
  }

  private static func name(_ source: String) throws(TemplateDefect) -> String {
    if !source.isTokenName { throw .invalidName }
    return source
  }

  var tokens: Set<String> {
    Set(pieces.compactMap { if case .token(let name) = $0 { name } else { nil } })
  }

  /// The text with its values. Braces in values are not tokens.
  /// - Returns: also the number of tokens without a value.
  func filled(with values: [String: String]) -> (text: String, missing: Int) {
    var text = FilledText()
    var missing = 0
    for piece in pieces {
      switch piece {
      case .literal(let literal): text.append(words: literal)
      case .token(let name):
        if values[name] == nil { missing += 1 }
        text.append(value: values[name] ?? Self.placeholder)
      }
    }
    return (text.text.trimmed, missing)
  }
}

extension String {
  /// Whether a token can have this name: lowercase ASCII letters, digits and `_`.
  var isTokenName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}

extension Unicode.Scalar {
  fileprivate var isBrace: Bool { self == "{" || self == "}" }
}
