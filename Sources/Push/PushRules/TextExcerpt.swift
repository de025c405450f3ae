/// The beginning of a text on one line, cut between grapheme clusters.
struct TextExcerpt {
  /// The excerpt, followed by `...` when the text went on.
  let text: String

  /// Reads at most `bytesMax` bytes of `source`.
  ///
  /// The bytes are bounded before clusters are looked for, because finding the end of a cluster means walking it, and a
  /// cluster may be as long as the sender likes. Where that bound cuts, the last cluster may be torn and is left out.
  init(of source: String, clustersMax: Int, bytesMax: Int) {
    text =
      Self.plainExcerpt(of: source, charactersMax: min(clustersMax, bytesMax - 1))
      ?? Self.excerpt(of: source, clustersMax: clustersMax, bytesMax: bytesMax)
  }

  /// The excerpt where no cluster has to be looked for, which is the dearest part of it; nil for other texts. Of printable
  /// ASCII each character is a cluster, the last one shown as well, because such a character follows it.
  private static func plainExcerpt(of source: String, charactersMax: Int) -> String? {
    var source = source
    let isPlain = source.withUTF8 { $0.prefix(charactersMax + 1).allSatisfy { (0x20...0x7E).contains($0) } }
    guard isPlain else { return nil }
    guard source.utf8.count > charactersMax else { return source }
    return String(decoding: source.utf8.prefix(charactersMax), as: UTF8.self) + "..."
  }

  private static func excerpt(of source: String, clustersMax: Int, bytesMax: Int) -> String {
    let examined = source[..<Self.scalarBoundary(in: source, within: bytesMax)]
    let isBounded = examined.endIndex < source.endIndex
    var end = examined.startIndex
    for _ in 0..<clustersMax where end < examined.endIndex {
      let next = examined.index(after: end)
      if isBounded, next == examined.endIndex { break }
      end = next
    }
    let shown = source[..<end].onOneLine
    return end < source.endIndex ? shown + "..." : shown
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

extension Substring {
  /// Itself, with a space in place of each line break and control character; CR LF is one character and becomes one
  /// space.
  fileprivate var onOneLine: String {
    guard unicodeScalars.contains(where: \.breaksLine) else { return String(self) }
    return String(map { character in character.unicodeScalars.first?.breaksLine == true ? " " : character })
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character of Unicode (general category Cc) or one of its two other line breaks. None of
  /// them is ever part of a larger cluster, CR LF aside, so looking at the first scalar of a cluster is enough.
  fileprivate var breaksLine: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
    default: false
    }
  }
}
