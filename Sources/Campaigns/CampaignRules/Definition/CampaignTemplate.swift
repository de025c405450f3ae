public import FoundationEssentials

/// A push written beforehand, with places for values in braces: `Your {event} is {when}.`
public struct CampaignTemplate: Hashable, Sendable {
  private let title: TemplateText
  private let body: TemplateText

  /// Reads a template.
  /// - Parameters:
  ///   - title: with its values cut to ``CheckInReply/titleClustersMax`` grapheme clusters, the ellipsis included.
  ///   - body: likewise to ``CheckInReply/bodyClustersMax``.
  /// - Throws: a ``TemplateDefect`` for what is no template. A brace cannot be written otherwise than around a name.
  public init(title: String, body: String) throws(TemplateDefect) {
    self.title = try TemplateText(title)
    self.body = try TemplateText(body)
  }

  /// The names of all its places, which must have values.
  public var placeholders: Set<String> {
    Set(
      (title.pieces + body.pieces).compactMap { piece in
        if case .placeholder(let name) = piece { name } else { nil }
      })
  }

  /// The push for some values, of which at most 80 Unicode scalars are shown, on one line and without angle brackets.
  /// - Returns: nil when a place has no value, or one with nothing visible: a sentence with a hole is worse than none.
  public func text(with values: [String: String]) -> CampaignText? {
    guard let title = title.rendered(with: values, clustersMax: CheckInReply.titleClustersMax),
      let body = body.rendered(with: values, clustersMax: CheckInReply.bodyClustersMax)
    else { return nil }
    return CampaignText(title: title, body: body)
  }
}

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

/// Why a text is no template. Raw values are stable.
public enum TemplateDefect: String, Error, CaseIterable, Sendable {
  /// The title or the body has nothing visible.
  case empty = "template_empty"
  /// A brace that is not closed, was not opened, or stands in another placeholder.
  case unmatchedBrace = "template_unmatched_brace"
  /// A placeholder's name is not made of `a`–`z`, digits and `_`, or is empty.
  case invalidName = "template_invalid_name"
}

/// The words of one push.
public struct CampaignText: Equatable, Hashable, Sendable {
  /// The first line.
  public let title: String
  /// The text.
  public let body: String

  /// A text, as it is.
  public init(title: String, body: String) {
    self.title = title
    self.body = body
  }
}

/// Templates that take turns.
public struct TemplatePool: Equatable, Sendable {
  /// The templates in their order, each once.
  public let templates: [CampaignTemplate]

  /// A pool, possibly empty; a template that is there already is left out, as it would be the same text again.
  public init(_ templates: [CampaignTemplate]) {
    var seen: Set<CampaignTemplate> = []
    self.templates = templates.filter { seen.insert($0).inserted }
  }

  /// The text for one user on one day.
  ///
  /// Those templates take part for which all values are there. Each user begins somewhere in the rotation and goes one
  /// further each day, so that on two days in a row with the same kinds of values the templates differ as soon as two take
  /// part, and everybody sees all of them in turn. Nothing is stored for it, and nothing random is in it: whoever asks
  /// again gets the same text.
  /// - Parameters:
  ///   - user: the user's identifier.
  ///   - localDay: the day on the user's own clock, see ``LocalTime/day(of:)``.
  ///   - values: by the name of their place.
  /// - Returns: nil when no template can be filled.
  public func text(for user: UUID, on localDay: Int, with values: [String: String]) -> CampaignText? {
    let texts = templates.compactMap { $0.text(with: values) }
    if texts.isEmpty { return nil }
    let start = Int(Self.hash(of: user) % UInt64(texts.count))
    // The remainder first: no day, however far, makes the sum overflow. Days before 1970 have a negative one.
    let turn = localDay % texts.count + texts.count
    return texts[(start + turn) % texts.count]
  }

  /// FNV-1a over the sixteen bytes; the standard library's hashes differ from process to process.
  private static func hash(of user: UUID) -> UInt64 {
    withUnsafeBytes(of: user.uuid) { bytes in
      bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
  }
}
