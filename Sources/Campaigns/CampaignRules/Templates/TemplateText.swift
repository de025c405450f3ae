/// One text with places for values: `Your {event} is {when}.`
struct TemplateText: Hashable {
  enum Piece: Hashable {
    case literal(String)
    case placeholder(String)
  }

  let pieces: [Piece]

  init(_ source: String) throws(TemplateDefect) {
    if source.unicodeScalars.allSatisfy({ $0.isBlank || $0.isHidden }) { throw .empty }
    var pieces: [Piece] = []
    var rest = source[...]
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      if rest[open] == "}" { throw .unmatchedBrace }
      if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
      let inside = rest[rest.index(after: open)...]
      guard let close = inside.firstIndex(where: { $0 == "{" || $0 == "}" }), inside[close] == "}" else {
        throw .unmatchedBrace
      }
      pieces.append(.placeholder(try Self.name(inside[..<close])))
      rest = inside[inside.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
  }

  private static func name(_ source: Substring) throws(TemplateDefect) -> String {
    let isName = source.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
      default: false
      }
    }
    if source.isEmpty || !isName { throw .invalidName }
    return String(source)
  }

  /// The text with its values, cut to a number of grapheme clusters; nil when a value is missing or has nothing visible.
  ///
  /// Values are put in as they are and never read for placeholders of their own.
  func rendered(with values: [String: String], clustersMax: Int) -> String? {
    var text = ""
    for piece in pieces {
      switch piece {
      case .literal(let literal): text += literal
      case .placeholder(let name):
        guard let value = values[name].flatMap({ TextLimits.line($0, max: TextLimits.templateValueMax) }) else {
          return nil
        }
        text += value
      }
    }
    return text.trimmed.cut(clustersMax: clustersMax)
  }
}

extension String {
  /// Itself, or as many clusters as leave room for an ellipsis.
  fileprivate func cut(clustersMax: Int) -> String {
    guard let end = index(startIndex, offsetBy: clustersMax, limitedBy: endIndex), end < endIndex else { return self }
    return self[..<index(before: end)].trimmed + "…"
  }
}
