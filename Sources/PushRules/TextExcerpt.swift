/// The beginning of a text on one line, cut between grapheme clusters.
struct TextExcerpt {
  /// The excerpt, followed by `...` when the text went on.
  let text: String

  /// Reads at most `bytesMax` bytes and one cluster of `source`.
  ///
  /// The bytes are bounded before clusters are looked for, because finding the end of a cluster means walking it, and a
  /// cluster may be as long as the sender likes. Where that bound cuts, the last cluster may be torn and is left out.
  init(of source: String, clustersMax: Int, bytesMax: Int) {
    let examined = source[..<Self.scalarBoundary(in: source, within: bytesMax)]
    let isBounded = examined.endIndex < source.endIndex
    var clusters = String()
    var end = examined.startIndex
    var count = 0
    while count < clustersMax, end < examined.endIndex {
      let next = examined.index(after: end)
      if isBounded, next == examined.endIndex { break }
      clusters.append(examined[end].onOneLine)
      end = next
      count += 1
    }
    text = end < source.endIndex ? clusters + "..." : clusters
  }

  /// The last boundary between scalars that is not more than `bytesMax` bytes from the start.
  private static func scalarBoundary(in source: String, within bytesMax: Int) -> String.Index {
    let utf8 = source.utf8
    guard var index = utf8.index(utf8.startIndex, offsetBy: bytesMax, limitedBy: utf8.endIndex) else {
      return source.endIndex
    }
    while index > utf8.startIndex, index.samePosition(in: source.unicodeScalars) == nil {
      index = utf8.index(before: index)
    }
    return index
  }
}

extension Character {
  /// Itself, or a space in place of a line break or a control character; CR LF is one character and becomes one space.
  fileprivate var onOneLine: Character {
    isNewline || isControl ? " " : self
  }

  private var isControl: Bool {
    unicodeScalars.first?.properties.generalCategory == .control
  }
}
