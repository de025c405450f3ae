internal import PushRules
internal import TemporalReferences

/// A title and a body.
struct CampaignText: Hashable, Sendable {
  /// The most grapheme clusters of a title, including the ellipsis of a cut one.
  static let titleClustersMax = 50
  /// The most grapheme clusters of a body, likewise.
  static let bodyClustersMax = 200

  let title: String
  let body: String
}

/// A text as its definition has it, filled for one user and day: the number of names without a value, each of which shows
/// `[Content]`, and the names that it has.
typealias FilledCampaignText = (text: CampaignText, missing: Int, names: Set<String>)

/// The texts of a campaign for the users for whom all conditions hold.
struct TextRule: Equatable {
  /// What a value must be. An absent value fulfils none of them.
  enum Condition: Equatable {
    case equals(String)
    case above(Double)
    case known

    func holds(for value: String) -> Bool {
      switch self {
      case .equals(let expected): value == expected
      case .above(let limit): Double(value).map { $0 > limit } ?? false
      case .known: true
      }
    }
  }

  /// Shown in place of a name without a value.
  static let placeholder = "[Content]"

  static let titleScalarsMax = 256
  private static let bodyScalarsMax = 2_048
  static let variantsMax = 31

  struct Variant: Hashable {
    let title: TextTemplate
    let body: TextTemplate

    var names: Set<String> { title.names.union(body.names) }
  }

  /// By the value's name.
  let conditions: [String: Condition]
  /// They take turns by user and day; at least one, each once.
  let variants: [Variant]
  /// The name of the value whose number ``plural`` is about; nil without.
  let counted: String?
  /// The same for numbers of a category.
  let plural: [PluralCategory: TextRule]
  /// The same in other locales, without conditions.
  let localised: [LocaleTag: TextRule]

  /// Reads a text: `{"if": {"streak": {"above": 3}}, "title": "Day {streak}", "body": ["Go!", "Well done!"],
  /// "counted": "streak", "plural": {"one": {"title": …, "body": …}}, "localised": {"de": {"title": …, "body": …}}}`.
  ///
  /// A body, or a body and a title of as many, may be a list, of which each takes its turn.
  init(
    field: DefinitionField, known: [String] = ["if", "title", "body", "counted", "plural", "localised"]
  ) throws {
    let object = try field.object(known: known)
    conditions = try object["if"]?.named { try Self.condition($1) } ?? [:]
    variants = try Self.variants(object)
    counted = try object["counted"]?.valueName()
    plural = try object["plural"].map(Self.plural) ?? [:]
    if (counted == nil) != plural.isEmpty {
      throw object.place("counted").defect(.missingKey, expected: "counted and plural together")
    }
    localised = try object.localised { try Self(field: $0, known: ["title", "body", "counted", "plural"]) }
  }

  private static func variants(_ object: DefinitionField) throws -> [Variant] {
    let titles = try object.required("title").templates(variantsMax, scalarsMax: titleScalarsMax)
    let bodies = try object.required("body").templates(variantsMax, scalarsMax: bodyScalarsMax)
    guard titles.count == 1 || titles.count == bodies.count else {
      throw object.place("title").defect(.outOfRange, expected: "one title, or one for each body")
    }
    var variants: [Variant] = []
    for (place, body) in bodies.enumerated() {
      let variant = Variant(title: titles[titles.count == 1 ? 0 : place], body: body)
      if !variants.contains(variant) { variants.append(variant) }
    }
    return variants
  }

  private static func plural(_ field: DefinitionField) throws -> [PluralCategory: TextRule] {
    let forms = try field.object(known: PluralCategory.allCases.map(\.rawValue))
    return try PluralCategory.allCases.reduce(into: [:]) { plural, category in
      plural[category] = try forms[category.rawValue].map { try Self(field: $0, known: ["title", "body"]) }
    }
  }

  private static func condition(_ field: DefinitionField) throws -> Condition {
    switch field.value {
    case .string: return .equals(try field.line(scalarsMax: TextLimits.nameMax))
    case .object:
      let object = try field.object(known: ["above", "known"])
      guard let known = object["known"] else { return .above(try object.required("above").number()) }
      guard try known.flag() && object.members().count == 1 else {
        throw known.defect(.outOfRange, expected: "true, alone")
      }
      return .known
    default: throw field.defect(.wrongType, expected: #"a string, {"above": number} or {"known": true}"#)
    }
  }

  func applies(to values: [String: String]) -> Bool {
    conditions.allSatisfy { name, condition in values[name].map(condition.holds) ?? false }
  }

  /// The text for a user and day, in the user's locale. A text of a locale that lacks a value is not taken.
  ///
  /// The user's identifier gives the start of the rotation, which moves by one each day. So two days in a row differ if at least
  /// two texts take part, and every user sees all of them in turn. The choice is neither stored nor random: the same arguments
  /// give the same text. One that lacks a value takes part only where all do.
  /// - Parameters:
  ///   - user: the bytes of the user's identifier.
  ///   - day: the day's number on the user's clock.
  func filled(
    with values: [String: String], in locale: LocaleTag?, for user: some Sequence<UInt8>, on day: Int
  ) -> FilledCampaignText {
    let choice = locale.flatMap { LocaleChoice(asked: $0) { localised[$0] != nil } }
    if let choice, let text = localised[choice.shown]?.variant(with: values, in: choice.shown, for: user, on: day),
      text.missing == 0
    {
      return text
    }
    return variant(with: values, in: .english, for: user, on: day)
  }

  private func variant(
    with values: [String: String], in locale: LocaleTag, for user: some Sequence<UInt8>, on day: Int
  ) -> FilledCampaignText {
    let count = counted.flatMap { values[$0] }.flatMap { Int($0) }
    let variants = count.flatMap { plural[PluralCategory(of: $0, in: locale)] }?.variants ?? variants
    let known = variants.filter { $0.names.allSatisfy { values[$0] != nil } }
    let candidates = known.isEmpty ? variants : known
    let variant = candidates[Self.place(among: candidates.count, for: user, on: day)]
    let title = variant.title.filled(with: values, absent: Self.placeholder)
    let body = variant.body.filled(with: values, absent: Self.placeholder)
    let text = CampaignText(
      title: title.text.trimmed.cut(clustersMax: CampaignText.titleClustersMax),
      body: body.text.trimmed.cut(clustersMax: CampaignText.bodyClustersMax))
    return (text, title.missing + body.missing, variant.names)
  }

  private static func place(among count: Int, for user: some Sequence<UInt8>, on day: Int) -> Int {
    guard count > 1 else { return 0 }
    // FNV-1a. The standard library's hashes differ between processes.
    let hash: UInt64 = user.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    // The remainder comes first, so that no day can overflow the sum.
    return (Int(hash % UInt64(count)) + day.modulo(count)) % count
  }
}

extension Substring {
  /// The text itself, or as many clusters as leave room for an ellipsis.
  func cut(clustersMax: Int) -> String {
    guard let end = index(startIndex, offsetBy: clustersMax, limitedBy: endIndex), end < endIndex else {
      return String(self)
    }
    return String(self[..<index(before: end)].trimmed).closingIsolates + "…"
  }
}

/// Entries that take turns by the day number.
struct TextPools: Equatable {
  typealias Entry = (index: Int, values: [String: String])

  private static let poolsMax = 100
  /// The most entries of a pool: one for each day of a leap year.
  private static let entriesMax = 366
  private static let valueScalarsMax = 2_048

  /// The name of the pool for a user and phase.
  let name: TextTemplate
  /// 1 to 366 entries by name; each holds visible lines by name.
  let entries: [String: [[String: String]]]

  init(pools: DefinitionField, name: DefinitionField) throws {
    let members = try pools.members()
    guard (1...Self.poolsMax).contains(members.count) else {
      throw pools.defect(.outOfRange, expected: "1 to \(Self.poolsMax) pools")
    }
    var entries: [String: [[String: String]]] = [:]
    for (key, pool) in members {
      // The rendered name is one trimmed line, so another name could never be found.
      if CampaignValues.line(key) != key { throw pool.defect(.outOfRange, expected: "a name on one line") }
      entries[key] = try pool.elements(1...Self.entriesMax).map(Self.entry)
    }
    self.entries = entries
    self.name = try name.template(scalarsMax: TextLimits.nameMax)
  }

  private static func entry(_ field: DefinitionField) throws -> [String: String] {
    let entry = try field.named { name, value in
      if Occasion.valueNames.contains(name) {
        throw value.defect(.unknownKey, expected: "a name that the slot does not fill itself")
      }
      return try value.line(scalarsMax: valueScalarsMax)
    }
    if entry.isEmpty { throw field.defect(.outOfRange, expected: "at least one value") }
    return entry
  }

  /// The entry of a day; nil when the name lacks a value or no pool has it.
  func entry(on day: CivilDay, with values: [String: String]) -> Entry? {
    let (name, missing) = name.filled(with: values)
    guard missing == 0, let pool = entries[String(name.trimmed)] else { return nil }
    let index = day.dayNumber.modulo(pool.count)
    return (index, pool[index])
  }
}

/// What a campaign asks a language model for: a title and a body, or with slots a body under a title of the campaign's own.
struct CampaignComposer: Equatable {
  /// What happens when the language model fails, is too late, or breaks a rule. Definitions use the raw values.
  enum Failure: String, CaseIterable {
    /// Nothing is sent: silence is better than a generic text.
    case skip
    case template
  }

  let onFailure: Failure
  /// Nil for the coach, who writes about what a layer has found.
  let task: ModelTask?
  /// Titles that take turns; empty for the title of the text that applies. One of which a name has no value is left out.
  let titles: [TextTemplate]
  /// The name of the value that counts the turns of titles; nil for the day's number.
  let titlesBy: String?

  /// Reads `{"on_failure": "skip", "task": "Greet a person.", "facts": ["name"]}`, of which a campaign with an hour needs none;
  /// with slots `{"task": "Greet a person.", "titles": ["Hello, {name}!"], "titles_by": "streak"}`, whose failure is a template.
  init(field: DefinitionField, hasSlots: Bool) throws {
    let object = try field.object(known: ModelTask.keys + (hasSlots ? ["titles", "titles_by"] : ["on_failure"]))
    onFailure = try object["on_failure"]?.word() ?? .template
    let hasTask = hasSlots || ModelTask.keys.contains { object[$0] != nil }
    task = hasTask ? try ModelTask(object) : nil
    titles = try object["titles"]?.templates(TextRule.variantsMax, scalarsMax: TextRule.titleScalarsMax) ?? []
    titlesBy = try object["titles_by"]?.valueName()
  }

  func title(on day: CivilDay, with values: [String: String]) -> String? {
    let filled = titles.map { $0.filled(with: values) }.filter { $0.missing == 0 }
    guard !filled.isEmpty else { return nil }
    let turn = titlesBy.map { values[$0].flatMap { Int($0) } ?? 0 } ?? day.dayNumber
    return filled[turn.modulo(filled.count)].text.trimmed.cut(clustersMax: CampaignText.titleClustersMax)
  }
}
