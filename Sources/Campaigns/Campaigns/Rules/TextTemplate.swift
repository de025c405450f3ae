package import PushRules
internal import TemporalReferences

/// A prepared push with placeholders in braces: `Your {event} is {when}.`
package struct CampaignTemplate: Hashable, Sendable {
  private let title: TemplateText
  private let body: TemplateText
  private let localised: [LocaleTag: CampaignTemplate]

  /// Reads a template.
  /// - Parameters:
  ///   - title: after its values are inserted, it is cut to ``CheckInReply/titleClustersMax`` grapheme clusters,
  ///     including the ellipsis.
  ///   - body: likewise cut to ``CheckInReply/bodyClustersMax``.
  ///   - localised: the same in other locales.
  /// - Throws: a ``TemplateDefect``. Braces are only allowed around a name.
  package init(title: String, body: String, localised: [LocaleTag: CampaignTemplate] = [:]) throws(TemplateDefect) {
    self.title = try TemplateText(title)
    self.body = try TemplateText(body)
    self.localised = localised
  }

  /// The names of all placeholders, except those in other locales. Each needs a value.
  package var placeholders: Set<String> {
    Set(
      (title.pieces + body.pieces).compactMap { piece in
        if case .placeholder(let name) = piece { name } else { nil }
      })
  }

  /// The push with these values, each cut to 80 Unicode scalars, on one line and without angle brackets.
  /// - Parameter locale: the user's. A text in it that lacks a value is not taken.
  /// - Returns: nil when a placeholder has no visible value: a sentence with a hole is worse than silence.
  package func text(with values: [String: String], in locale: LocaleTag? = nil) -> CampaignText? {
    let translated = locale.flatMap { LocaleChoice(asked: $0) { localised[$0] != nil } }.flatMap { localised[$0.shown] }
    if let text = translated?.text(with: values) { return text }
    guard let title = title.rendered(with: values, clustersMax: CheckInReply.titleClustersMax),
      let body = body.rendered(with: values, clustersMax: CheckInReply.bodyClustersMax)
    else { return nil }
    return CampaignText(title: title, body: body)
  }
}

/// One text with placeholders: `Your {event} is {when}.`
private struct TemplateText: Hashable {
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

  /// The text with its values, cut to a number of grapheme clusters; nil without a visible value for each placeholder.
  ///
  /// Braces in values are not placeholders.
  func rendered(with values: [String: String], clustersMax: Int) -> String? {
    var text = FilledText()
    for piece in pieces {
      switch piece {
      case .literal(let literal): text.append(words: literal)
      case .placeholder(let name):
        guard let value = values[name].flatMap({ TextLimits.line($0, max: TextLimits.templateValueMax) }) else {
          return nil
        }
        text.append(value: value)
      }
    }
    return text.text.trimmed.cut(clustersMax: clustersMax)
  }
}

extension String {
  /// The text itself, or as many clusters as leave room for an ellipsis.
  func cut(clustersMax: Int) -> String {
    guard let end = index(startIndex, offsetBy: clustersMax, limitedBy: endIndex), end < endIndex else { return self }
    return self[..<index(before: end)].trimmed.closingIsolates + "…"
  }
}

/// Why a text is not a template. Raw values are stable.
package enum TemplateDefect: String, Error, CaseIterable, Sendable {
  /// The title or the body has no visible character.
  case empty = "template_empty"
  /// A brace is not closed, not opened, or inside another placeholder.
  case unmatchedBrace = "template_unmatched_brace"
  /// A placeholder's name is empty or has characters other than `a`–`z`, digits and `_`.
  case invalidName = "template_invalid_name"
}

package struct CampaignText: Equatable, Hashable, Sendable {
  package let title: String
  package let body: String

  package init(title: String, body: String) {
    self.title = title
    self.body = body
  }
}

/// Templates that take turns.
package struct TemplatePool: Equatable, Sendable {
  /// The templates in order, each once.
  package let templates: [CampaignTemplate]

  /// A pool, possibly empty. Repeated templates are dropped.
  package init(_ templates: [CampaignTemplate]) {
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
  ///   - values: by placeholder.
  ///   - locale: the user's.
  /// - Returns: nil when no template can be filled.
  package func text(
    for user: some Sequence<UInt8>, on localDay: Int, with values: [String: String], in locale: LocaleTag? = nil
  ) -> CampaignText? {
    let texts = templates.compactMap { $0.text(with: values, in: locale) }
    if texts.isEmpty { return nil }
    return texts[Self.turn(among: texts.count, for: user, on: localDay)]
  }

  /// Whose turn it is for a user on a day, see ``text(for:on:with:)``.
  static func turn(among count: Int, for user: some Sequence<UInt8>, on localDay: Int) -> Int {
    let start = Int(hash(of: user) % UInt64(count))
    // The remainder comes first, so that no day can overflow the sum.
    return (start + localDay.modulo(count)) % count
  }

  /// FNV-1a over the bytes. The standard library's hashes differ between processes.
  private static func hash(of user: some Sequence<UInt8>) -> UInt64 {
    user.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
  }
}

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
