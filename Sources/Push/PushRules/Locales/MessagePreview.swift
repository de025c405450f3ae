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

extension String {
  /// The longest beginning of whole grapheme clusters that takes at most so many bytes, with its isolates closed.
  ///
  /// Bounds the bytes before it looks for clusters, because a cluster may have any length. A cluster that the bound tears is
  /// left out.
  /// - Parameter width: the bytes that one byte of the text takes, such as those of its escape in JSON.
  package func beginning(bytesMax: Int, width: (UInt8) -> Int = { _ in 1 }) -> String {
    let closed = String(clusters(within: bytesMax, width)).closingIsolates
    guard closed.utf8.reduce(0, { $0 + width($1) }) > bytesMax else { return closed }
    return String(clusters(within: bytesMax - Self.closingBytesMax, width)).closingIsolates
  }

  private func clusters(within bytesMax: Int, _ width: (UInt8) -> Int) -> Substring {
    var room = bytesMax
    let bound = unicodeScalars.indices.first { index in
      room -= UTF8.encode(unicodeScalars[index])?.reduce(0) { $0 + width($1) } ?? 0
      return room < 0
    }
    guard let bound else { return self[...] }
    // The scalar after the bound shows whether the last cluster goes on.
    let examined = self[..<unicodeScalars.index(after: bound)]
    var end = startIndex
    while end < bound {
      let next = examined.index(after: end)
      guard next <= bound else { break }
      end = next
    }
    return self[..<end]
  }
}

enum TextDirection {
  static func directions(in text: some StringProtocol) -> (hasRightward: Bool, hasLeftward: Bool) {
    var (hasRightward, hasLeftward) = (false, false)
    for scalar in text.unicodeScalars {
      if scalar.runsLeftward { hasLeftward = true } else if scalar.isRightwardLetter { hasRightward = true }
      if hasRightward, hasLeftward { break }
    }
    return (hasRightward, hasLeftward)
  }
}

extension Unicode.Scalar {
  /// Whether it is in a block whose characters run from right to left: Hebrew, Arabic, Syriac, Thaana, NKo, Adlam and so on.
  /// Source: the ranges of bidirectional class R and AL in Unicode's `DerivedBidiClass.txt`.
  var runsLeftward: Bool {
    switch value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
    default: false
    }
  }

  fileprivate var isRightwardLetter: Bool {
    isASCII ? (0x41...0x5A).contains(value & ~0x20) : properties.isAlphabetic
  }

  var opensIsolate: Bool { (0x2066...0x2068).contains(value) }
}

/// A text that is put together of words and inserted values, such as `Message from ` and a name.
///
/// Where letters of both directions meet, each value is isolated (U+2068 … U+2069), so that neither a name nor its punctuation
/// moves what stands beside it. Source: Unicode Standard Annex 9, section 2.4.
package struct FilledText {
  private var parts: [(text: String, isValue: Bool)] = []

  package init() {}

  /// Adds words of the text itself.
  package mutating func append(words: String) { if !words.isEmpty { parts.append((words, false)) } }

  /// Adds what was inserted.
  package mutating func append(value: String) { if !value.isEmpty { parts.append((value, true)) } }

  package var text: String {
    let whole = parts.reduce(into: "") { $0 += $1.text }
    guard parts.count > 1, whole.utf8.contains(where: { $0 >= 0xD6 }) else { return whole }
    let (hasRightward, hasLeftward) = TextDirection.directions(in: whole)
    guard hasRightward, hasLeftward else { return whole }
    return parts.reduce(into: "") { $0 += $1.isValue ? $1.text.isolated : $1.text }
  }
}

extension String {
  /// In an isolate, without isolates inside: an unbalanced one would end this one too early, or never.
  fileprivate var isolated: String { "\u{2068}" + withoutIsolates + "\u{2069}" }

  private var withoutIsolates: String {
    var scalars = unicodeScalars
    scalars.removeAll { $0.opensIsolate || $0 == "\u{2069}" }
    return String(scalars)
  }

  /// The isolates that the text opens and does not close.
  private var openIsolates: Int {
    var open = 0
    for scalar in unicodeScalars {
      if scalar.opensIsolate { open += 1 } else if scalar == "\u{2069}" { open = max(0, open - 1) }
    }
    return open
  }

  /// The text with its open isolates closed; without any isolates where more are open than any honest text has.
  ///
  /// A text that was cut needs it: what stands after it would belong to the isolate.
  package var closingIsolates: String {
    guard utf8.contains(0xE2) else { return self }
    switch openIsolates {
    case 0: return self
    case 1...Self.openIsolatesMax: return self + String(repeating: "\u{2069}", count: openIsolates)
    default: return withoutIsolates
    }
  }

  /// Deeper than quotations are nested.
  private static let openIsolatesMax = 4

  /// What ``closingIsolates`` adds at most, in bytes.
  static let closingBytesMax = openIsolatesMax * 3
}
