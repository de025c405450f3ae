internal import PushRules
internal import TemporalReferences

/// A text with names in braces, single ones as in `Your {event} is {when}.` or double ones as in `Day {{streak}}`.
struct TextTemplate: Hashable {
  /// Shown in place of a name without a value.
  static let placeholder = "[Content]"

  private enum Piece: Hashable {
    case literal(String)
    case name(String)
  }

  private let pieces: [Piece]

  /// Reads a template. Braces are only allowed around a name, so many on each side.
  init(_ source: String, braces: Int) throws(TemplateDefect) {
    if source.unicodeScalars.allSatisfy({ $0.isBlank || $0.isHidden }) { throw .empty }
    func all(_ brace: Unicode.Scalar) -> [Unicode.Scalar] { Array(repeating: brace, count: braces) }
    var pieces: [Piece] = []
    // Scalars, because a brace and a combining mark after it are one character.
    var rest = source.unicodeScalars[...]
    while let open = rest.firstIndex(where: \.isBrace) {
      if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
      let inside = rest[open...].dropFirst(braces)
      guard rest[open...].starts(with: all("{")), let close = inside.firstIndex(where: \.isBrace),
        inside[close...].starts(with: all("}"))
      else { throw .unmatchedBrace }
      let name = String(inside[..<close])
      if !name.isTokenName { throw .invalidName }
      pieces.append(.name(name))
      rest = inside[close...].dropFirst(braces)
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
  }

  var names: Set<String> {
    Set(pieces.compactMap { if case .name(let name) = $0 { name } else { nil } })
  }

  /// The text with its values. Braces in values are no names.
  /// - Returns: also how often a name has no value.
  func filled(with values: [String: String]) -> (text: String, missing: Int) {
    var text = FilledText()
    var missing = 0
    for piece in pieces {
      switch piece {
      case .literal(let literal): text.append(words: literal)
      case .name(let name):
        if values[name] == nil { missing += 1 }
        text.append(value: values[name] ?? Self.placeholder)
      }
    }
    return (text.text.trimmed, missing)
  }
}

/// Why a text is not a template. Raw values are stable.
enum TemplateDefect: String, Error, CaseIterable {
  /// It has no visible character.
  case empty = "template_empty"
  /// A brace is not closed, not opened, or inside another name's.
  case unmatchedBrace = "template_unmatched_brace"
  /// A name is empty or has characters other than `a`–`z`, digits and `_`.
  case invalidName = "template_invalid_name"
}

extension String {
  /// Whether a value can have this name: lowercase ASCII letters, digits and `_`.
  var isTokenName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }

  /// The text itself, or as many clusters as leave room for an ellipsis.
  func cut(clustersMax: Int) -> String {
    guard let end = index(startIndex, offsetBy: clustersMax, limitedBy: endIndex), end < endIndex else { return self }
    return self[..<index(before: end)].trimmed.closingIsolates + "…"
  }
}

extension Unicode.Scalar {
  fileprivate var isBrace: Bool { self == "{" || self == "}" }
}

struct CampaignText: Hashable, Sendable {
  /// The most grapheme clusters of a title, including the ellipsis of a cut one.
  static let titleClustersMax = 50
  /// The most grapheme clusters of a body, likewise.
  static let bodyClustersMax = 200

  let title: String
  let body: String
}

/// A prepared push: title and body, with names in single braces.
struct CampaignTemplate: Hashable {
  private let title: TextTemplate
  private let body: TextTemplate
  private let localised: [LocaleTag: CampaignTemplate]

  init(title: String, body: String, localised: [LocaleTag: CampaignTemplate] = [:]) throws(TemplateDefect) {
    self.title = try TextTemplate(title, braces: 1)
    self.body = try TextTemplate(body, braces: 1)
    self.localised = localised
  }

  /// The push with these values, each cut to 80 Unicode scalars, on one line and without angle brackets. Afterwards title and body
  /// are cut to their limits.
  /// - Parameter locale: the user's. A text in it that lacks a value is not taken.
  /// - Returns: nil when a name has no visible value: a sentence with a hole is worse than silence.
  func text(with values: [String: String], in locale: LocaleTag? = nil) -> CampaignText? {
    let translated = locale.flatMap { LocaleChoice(asked: $0) { localised[$0] != nil } }.flatMap { localised[$0.shown] }
    if let text = translated?.text(with: values) { return text }
    let lines = values.compactMapValues { TextLimits.line($0, max: TextLimits.templateValueMax) }
    let (title, body) = (title.filled(with: lines), body.filled(with: lines))
    guard title.missing + body.missing == 0 else { return nil }
    return CampaignText(
      title: title.text.cut(clustersMax: CampaignText.titleClustersMax),
      body: body.text.cut(clustersMax: CampaignText.bodyClustersMax))
  }
}

struct TemplatePool: Equatable {
  /// The templates in order, each once.
  let templates: [CampaignTemplate]

  /// A pool, possibly empty. Repeated templates are dropped.
  init(_ templates: [CampaignTemplate]) {
    var seen: Set<CampaignTemplate> = []
    self.templates = templates.filter { seen.insert($0).inserted }
  }

  /// The text for one user on one day.
  ///
  /// Only templates with all their values take part. The user's identifier gives the start of the rotation, which moves
  /// by one each day. So two days in a row differ if at least two templates take part, and every user sees all of them
  /// in turn. The choice is neither stored nor random: the same arguments give the same text.
  /// - Parameters:
  ///   - user: the bytes of the user's identifier.
  ///   - localDay: the day on the user's clock, see ``LocalTime/day(of:)``.
  /// - Returns: nil when no template can be filled.
  func text(
    for user: some Sequence<UInt8>, on localDay: Int, with values: [String: String], in locale: LocaleTag? = nil
  ) -> CampaignText? {
    let texts = templates.compactMap { $0.text(with: values, in: locale) }
    if texts.isEmpty { return nil }
    return texts[Self.turn(among: texts.count, for: user, on: localDay)]
  }

  /// Whose turn it is for a user on a day, see ``text(for:on:with:)``.
  static func turn(among count: Int, for user: some Sequence<UInt8>, on localDay: Int) -> Int {
    // FNV-1a. The standard library's hashes differ between processes.
    let hash: UInt64 = user.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    // The remainder comes first, so that no day can overflow the sum.
    return (Int(hash % UInt64(count)) + localDay.modulo(count)) % count
  }
}
