/// What a push says about a message: its sender and its beginning.
///
/// Both texts are cut between grapheme clusters, so that no accent or emoji is torn. Only the first few kilobytes of the input
/// are read.
package struct MessagePreview: Equatable, Sendable {
  package static let bodyClustersMax = 50
  /// The most bytes of the text that are shown. A cluster has no largest size, so a count of clusters bounds nothing. Fifty of
  /// the longest emoji in use (a family with four skin tones, 41 bytes) fit, and over 1,600 of the 4,096 bytes that APNs takes
  /// remain for the rest.
  package static let bodyBytesMax = 2_400
  /// The most grapheme clusters of a name that are shown; more than a screen shows, less than a text.
  package static let nameClustersMax = 80
  /// The most bytes of a name that are shown: 80 clusters of a script with combining marks, at 9 bytes each.
  package static let nameBytesMax = 720

  /// `Message from <name>`, or `New message` when there is no name.
  package let title: String
  /// The sender's name alone; empty when it is unknown.
  package let name: String
  /// The first 50 clusters of the text, with `...` when there was more; empty for an empty text, such as that of a picture.
  package let body: String

  /// Makes the preview of one message.
  ///
  /// Line breaks, tabs and other control characters become one space each: a preview is one line, and a name must not draw a
  /// second one. In the text each still counts as one character; the name loses the space around it.
  /// - Parameters:
  ///   - senderName: the sender's display name; nil, empty or blank when unknown.
  ///   - text: the message.
  package init(senderName: String?, text: String) {
    let name = TextExcerpt(of: senderName ?? "", clustersMax: Self.nameClustersMax, bytesMax: Self.nameBytesMax)
      .text.trimmed
    self.name = String(name)
    title = name.isEmpty ? "New message" : Self.title(naming: self.name)
    body = TextExcerpt(of: text, clustersMax: Self.bodyClustersMax, bytesMax: Self.bodyBytesMax).text
  }
}

extension MessagePreview {
  private static func title(naming name: String) -> String {
    var title = FilledText()
    title.append(words: "Message from ")
    title.append(value: name)
    return title.text
  }
}

extension String {
  fileprivate var trimmed: Substring {
    var rest = drop(while: \.isWhitespace)
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return rest
  }
}

/// What a push says about an event whose texts come from the host or another server.
///
/// Both texts are put on one line and cut between grapheme clusters, like those of ``MessagePreview``.
package struct NoticePreview: Equatable, Sendable {
  package static let titleClustersMax = 100
  /// The most bytes of a title that are shown. In a document each may take six, so a title can never fill a push.
  package static let titleBytesMax = 400
  /// The most grapheme clusters of a body that are shown; more than any screen shows before the push is opened.
  package static let bodyClustersMax = 200
  package static let bodyBytesMax = 2_400

  package let title: String
  package let body: String

  /// Cuts both.
  package init(title: String, body: String) {
    self.title = TextExcerpt(of: title, clustersMax: Self.titleClustersMax, bytesMax: Self.titleBytesMax).text
    self.body = TextExcerpt(of: body, clustersMax: Self.bodyClustersMax, bytesMax: Self.bodyBytesMax).text
  }
}

/// The beginning of a text on one line, cut between grapheme clusters.
struct TextExcerpt {
  /// The excerpt, followed by `...` when the text went on.
  let text: String

  /// Reads at most `bytesMax` bytes of `source`.
  ///
  /// Bounds the bytes before it looks for clusters, because finding the end of a cluster means walking it, and a cluster may
  /// have any length. At that bound the last cluster may be torn and is left out.
  init(of source: String, clustersMax: Int, bytesMax: Int) {
    text =
      Self.plainExcerpt(of: source, charactersMax: min(clustersMax, bytesMax - 1))
      ?? Self.excerpt(of: source, clustersMax: clustersMax, bytesMax: bytesMax)
  }

  /// The excerpt of printable ASCII, where each character is a cluster; nil for other texts. The search for clusters is the
  /// costliest part. The last character shown is whole too, because another such character follows it.
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
    return end < source.endIndex ? shown.closingIsolates + "..." : shown.closingIsolates
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
  /// Itself, with a space in place of each line break and control character. CR LF is one character and becomes one space.
  fileprivate var onOneLine: String {
    guard unicodeScalars.contains(where: \.breaksLine) else { return String(self) }
    return String(map { character in character.unicodeScalars.first?.breaksLine == true ? " " : character })
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character of Unicode (general category Cc) or one of its two other line breaks. Except in CR LF,
  /// none of them is ever part of a larger cluster, so a look at the first scalar of a cluster is enough.
  fileprivate var breaksLine: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
    default: false
    }
  }
}
