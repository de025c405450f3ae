internal import PushRules
internal import TemporalReferences

/// A rendered row.
package struct SlotText: Equatable, Sendable {
  /// The most grapheme clusters of a title, including the ellipsis of a cut one.
  package static let titleClustersMax = 50
  /// The most grapheme clusters of a body, likewise.
  package static let bodyClustersMax = 200

  package let title: String
  package let body: String
  /// Custom members of the push, a JSON object without spaces whose keys are sorted: the definition's payload, `slot`,
  /// `fire_date`, `phase` if the slot has one, and `micro_action` as a number if a pool was used.
  package let data: String
  /// The number of tokens without a value in title and body. Each shows `[Content]`.
  package let missingTokens: Int
  /// The index of the pool's entry; nil when title and body use no value of a pool.
  package let microAction: Int?
}

extension SlotCampaignDefinition {
  /// The text of a row. The same arguments give the same text.
  ///
  /// Where several sources have a value of the same name, the pool's entry takes precedence over `values`. The occasion
  /// takes precedence over both.
  /// - Parameters:
  ///   - values: the material, with the fetched document over it.
  ///   - user: the bytes of the user's identifier, by which bodies take turns.
  /// - Returns: nil when the conditions of no text hold.
  package func text(
    for occasion: SlotOccasion, values: SlotValues, user: some Sequence<UInt8> = EmptyCollection()
  ) -> SlotText? {
    let (lines, turn) = lines(for: occasion, values: values)
    guard let rule = texts.first(where: { $0.applies(to: lines) })?.suited(to: values.locale) else { return nil }
    let bodyTemplate = rule.body(for: user, on: occasion.fireDate, with: lines)
    let title = rule.title.filled(with: lines)
    let body = bodyTemplate.filled(with: lines)
    let isPoolUsed =
      turn.map { !rule.title.tokens.union(bodyTemplate.tokens).isDisjoint(with: $0.values.keys) } ?? false
    let microAction = isPoolUsed ? turn?.index : nil
    return SlotText(
      title: title.text.cut(clustersMax: SlotText.titleClustersMax),
      body: body.text.cut(clustersMax: SlotText.bodyClustersMax),
      data: data(for: occasion, lines, microAction: microAction),
      missingTokens: title.missing + body.missing,
      microAction: microAction)
  }

  /// The values of all tokens, and the turn of the pool; see ``text(for:values:user:)``.
  func lines(
    for occasion: SlotOccasion, values: SlotValues
  ) -> (values: [String: String], turn: (index: Int, values: [String: String])?) {
    var lines = values.lines
    for (name, value) in occasion.values { lines[name] = value }
    let turn = pools?.turn(on: occasion.fireDate, with: lines)
    if let turn { lines.merge(turn.values) { $1 } }
    return (lines, turn)
  }

  /// Written here because a row is rendered for each user, slot and day, and a JSON encoder took half of that time.
  private func data(for occasion: SlotOccasion, _ lines: [String: String], microAction: Int?) -> String {
    var members = payload.compactMapValues { $0.filled(with: lines)?.jsonLiteral }
    if hasCollapseID { members["identifier"] = occasion.identifier.jsonLiteral }
    members["slot"] = occasion.slot.description.jsonLiteral
    members["fire_date"] = occasion.fireDate.description.jsonLiteral
    members["phase"] = occasion.phase?.jsonLiteral
    members["micro_action"] = microAction.map { String($0) }
    let sorted = members.sorted { $0.key < $1.key }
    return "{" + sorted.map { $0.key.jsonLiteral + ":" + $0.value }.joined(separator: ",") + "}"
  }
}

extension String {
  /// The text as a string of JSON (RFC 8259 section 7).
  fileprivate var jsonLiteral: String {
    guard utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
      return "\"" + self + "\""
    }
    var literal = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
