internal import PushRules
internal import TemporalReferences

/// A campaign of slots as data: its default slots, its texts and how they reach the device. The database holds its
/// audience and the users' slots.
package struct SlotCampaignDefinition: Equatable, Sendable {
  /// The slots of a user who has not moved any, in the order of the definition; 1 to 24. Each time and each phase occurs
  /// once.
  let slots: [DefaultSlot]
  let way: SlotWay
  let category: SlotCategory
  /// The host's address of fetched values; nil without one. It may contain `{user_id}`.
  let contentURL: String?
  let pools: SlotPools?
  /// What a language model writes; nil for a campaign of texts alone.
  let composer: SlotComposer?
  /// The first whose conditions all hold is used.
  let texts: [SlotTextRule]
  /// Custom members of every push. A row adds `slot`, `fire_date`, `phase` and `micro_action`.
  let payload: [String: PayloadValue]
  /// Whether pushes have a collapse identifier of the campaign's own. Then a row's data has its identifier.
  let hasCollapseID: Bool
}

extension SlotCampaignDefinition {
  private static let keys = [
    "slots", "way", "category", "pools", "pool", "composer", "texts", "payload", "presentation", "content",
  ]
  private static let textsMax = 100
  /// Members that a row sets itself, and those of every campaign's push.
  private static let reservedPayloadKeys = CampaignDefinition.reservedPayloadKeys.union([
    "fire_date", "identifier", "micro_action", "phase", "slot",
  ])

  /// Whether a definition is one of a slot campaign: an object with the member `slots`. It may still have defects.
  package static func hasSlots(json: String) -> Bool {
    guard case .object(let members) = JSONValue(json) else { return false }
    return members["slots"] != nil
  }

  /// Reads a definition.
  ///
  /// ```json
  /// {"slots": [{"slot": "0800", "phase": "morning", "weekdays": [1, 2, 3, 4, 5]}],
  ///  "way": "auto",
  ///  "category": {"id": "DAILY", "actions": [{"id": "OPEN", "title": "Open", "foreground": true}]},
  ///  "pools": {"cold.morning": [{"text": "Drink a glass of warm water", "seconds": "10"}]},
  ///  "pool": "{{group}}.{{phase}}",
  ///  "composer": {"task": "Say something about the weather.", "facts": ["weather"], "titles": ["Day {{streak}}"]},
  ///  "texts": [{"if": {"phase": "morning", "streak": {"above": 3}}, "title": "Day {{streak}}", "body": "{{text}}"}],
  ///  "payload": {"action": "open"},
  ///  "presentation": {"sound": "reminder.caf", "collapse_id": "daily_{{phase}}"},
  ///  "content": {"url": "https://host.example/content/{user_id}"}}
  /// ```
  ///
  /// Only `slots` and `texts` are required. A slot has no phase and fires on all days by default. The way is `auto`, the
  /// category ``SlotCategory/daily`` and the payload `{"action": "open"}` by default. `pools` and `pool` come together. A text
  /// may have several bodies, which take turns.
  /// - Throws: the first ``CampaignDefinitionDefect``, in the order of the keys above.
  package init(json: String) throws(CampaignDefinitionDefect) {
    let root = try DefinitionObject(json: json, known: Self.keys)
    slots = try Self.slots(root.required("slots"))
    way = try root["way"]?.word() ?? .auto
    category = try root["category"].map(SlotCategory.init(field:)) ?? .daily
    let hasPools = root["pools"] != nil || root["pool"] != nil
    pools = hasPools ? try SlotPools(pools: root.required("pools"), name: root.required("pool")) : nil
    composer = try root["composer"].map(SlotComposer.init(field:))
    texts = try root.required("texts").elements(1...Self.textsMax).map(SlotTextRule.init(field:))
    payload = try root["payload"]?.payload(reserved: Self.reservedPayloadKeys) ?? ["action": .literal("open")]
    try root["presentation"]?.checkPresentation()
    hasCollapseID = try root["presentation"]?.object()["collapse_id"] != nil
    contentURL = try root["content"].map(Self.contentURL)
  }

  private static func slots(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [DefaultSlot] {
    var slots: [DefaultSlot] = []
    for element in try field.elements(1...24) {
      let object = try element.object(known: ["slot", "phase", "weekdays"])
      let slot = try DefaultSlot(object)
      if slots.contains(where: { $0.slot == slot.slot }) {
        throw object.place("slot").defect(.repeated, expected: "each time once")
      }
      if let phase = slot.phase, slots.contains(where: { $0.phase == phase }) {
        throw object.place("phase").defect(.repeated, expected: "each phase once")
      }
      slots.append(slot)
    }
    return slots
  }

  private static func contentURL(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> String {
    let url = try field.object(known: ["url"]).required("url")
    let text = try url.string()
    guard text.isContentURL else {
      throw url.defect(
        .outOfRange, expected: "an http or https URL of at most 2048 bytes, without braces except {user_id}")
    }
    return text
  }
}

extension String {
  /// Whether it can be the address of content: printable ASCII, and braces only as `{user_id}`. The fetch reads the rest.
  fileprivate var isContentURL: Bool {
    guard utf8.count <= 2_048, utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
    let scheme = ["https://", "http://"].first { hasPrefix($0) }
    guard let scheme, let host = dropFirst(scheme.count).first, !"/?#:@{".contains(host) else { return false }
    return !split(separator: "{user_id}", omittingEmptySubsequences: false).contains { part in
      part.contains { $0 == "{" || $0 == "}" }
    }
  }
}

/// A slot of a user who has not moved it.
struct DefaultSlot: Equatable {
  let slot: SlotTime
  /// Its phase: a lowercase letter, then lowercase letters, digits or `_`, at most 32 in total; nil without one.
  let phase: String?
  /// The days of the week on which it fires, ascending, at least one: 1 for Monday to 7 for Sunday.
  let weekdays: [Int]

  init(_ object: DefinitionObject) throws(CampaignDefinitionDefect) {
    let time = try object.required("slot")
    guard let slot = SlotTime(try time.string()) else { throw time.defect(.outOfRange, expected: "HHmm, 0000 to 2359") }
    self.slot = slot
    phase = try object["phase"].map(Self.phase)
    weekdays = try object["weekdays"].map(Self.weekdays) ?? Array(1...7)
  }

  private static func phase(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> String {
    let phase = try field.string()
    guard phase.utf8.count <= 32, phase.isTokenName, phase.first?.isLetter == true else {
      throw field.defect(.outOfRange, expected: "a letter, then letters, digits or _, all lowercase, at most 32")
    }
    return phase
  }

  private static func weekdays(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [Int] {
    var weekdays: [Int] = []
    for element in try field.elements(1...7) {
      guard let weekday = Int(exactly: try element.number()), (1...7).contains(weekday) else {
        throw element.defect(.outOfRange, expected: "1 to 7")
      }
      if weekdays.contains(weekday) { throw element.defect(.repeated, expected: "each weekday once") }
      weekdays.append(weekday)
    }
    return weekdays.sorted()
  }
}

/// How a campaign's texts reach the device. Definitions use the raw values.
enum SlotWay: String, CaseIterable {
  /// The service pushes at the fire time.
  case push
  /// The app arms local notifications. The service does not push.
  case local
  /// The service pushes to every device that has not acknowledged the row as armed.
  case auto
}

/// A notification category, which the app registers.
package struct SlotCategory: Equatable, Sendable {
  /// Its identifier: 1 to 64 ASCII letters, digits, `_`, `-` or `.`.
  package let id: String
  /// Its actions in order: at most 10, each identifier once.
  package let actions: [SlotAction]

  /// The category of campaigns that name no other.
  static let daily = SlotCategory(
    id: "TS_DAILY", actions: [SlotAction(id: "OPEN", title: "Open", isForeground: true)])

  /// Categories that no definition of slots has: of pushes that ask a user back, and of achievements.
  static let others = ["ACHIEVEMENT", "RE_ENGAGEMENT"].map { SlotCategory(id: $0, actions: []) }
}

extension SlotCategory {
  fileprivate init(field: DefinitionField) throws(CampaignDefinitionDefect) {
    let object = try field.object(known: ["id", "actions"])
    id = try object.required("id").identifier()
    var actions: [SlotAction] = []
    for element in try object.required("actions").elements(0...10) {
      let member = try element.object(known: ["id", "title", "foreground"])
      let action = SlotAction(
        id: try member.required("id").identifier(), title: try member.required("title").line(scalarsMax: 64),
        isForeground: try member.required("foreground").flag())
      if actions.contains(where: { $0.id == action.id }) {
        throw member.place("id").defect(.repeated, expected: "each identifier once")
      }
      actions.append(action)
    }
    self.actions = actions
  }
}

package struct SlotAction: Equatable, Sendable {
  package let id: String
  /// The button's label, at most 64 Unicode scalars.
  package let title: String
  package let isForeground: Bool
}

/// Entries that take turns by the day number of the fire date.
struct SlotPools: Equatable {
  private static let poolsMax = 100
  /// The most entries of a pool: one for each day of a leap year.
  private static let entriesMax = 366
  private static let valueScalarsMax = 2_048

  /// The name of the pool for a user and phase.
  let name: TextTemplate
  /// 1 to 366 entries by name; each holds visible lines by name.
  let entries: [String: [[String: String]]]

  init(pools: DefinitionField, name: DefinitionField) throws(CampaignDefinitionDefect) {
    let members = try pools.object().sorted
    guard (1...Self.poolsMax).contains(members.count) else {
      throw pools.defect(.outOfRange, expected: "1 to \(Self.poolsMax) pools")
    }
    var entries: [String: [[String: String]]] = [:]
    for (key, pool) in members {
      // The rendered name is one trimmed line, so another name could never be found.
      if SlotValues.line(key) != key { throw pool.defect(.outOfRange, expected: "a name on one line") }
      entries[key] = try pool.elements(1...Self.entriesMax).map(Self.entry)
    }
    self.entries = entries
    self.name = try name.template(scalarsMax: TextLimits.templateValueMax)
  }

  private static func entry(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [String: String] {
    var entry: [String: String] = [:]
    for (name, value) in try field.object().sorted {
      let member = try value.named(name)
      if SlotOccasion.names.contains(name) {
        throw member.defect(.unknownKey, expected: "a name that the slot does not fill itself")
      }
      entry[name] = try member.line(scalarsMax: valueScalarsMax)
    }
    if entry.isEmpty { throw field.defect(.outOfRange, expected: "at least one value") }
    return entry
  }

  /// The entry of a day, and its index; nil when the name lacks a value or no pool has it.
  func turn(on day: CivilDay, with values: [String: String]) -> (index: Int, values: [String: String])? {
    let (name, missing) = name.filled(with: values)
    guard missing == 0, let pool = entries[name] else { return nil }
    let index = day.dayNumber.modulo(pool.count)
    return (index, pool[index])
  }
}

/// A title and bodies for the users for whom all conditions hold.
struct SlotTextRule: Equatable {
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

  private static let titleScalarsMax = 256
  private static let bodyScalarsMax = 2_048
  private static let bodiesMax = 31

  /// By the value's name.
  let conditions: [String: Condition]
  let title: TextTemplate
  /// At least one. They take turns by user and day.
  let bodies: [TextTemplate]
  /// The same in other locales, without conditions.
  let localised: [LocaleTag: SlotTextRule]

  init(field: DefinitionField) throws(CampaignDefinitionDefect) {
    try self.init(field: field, known: ["if", "title", "body", "localised"])
  }

  private init(field: DefinitionField, known: [String]) throws(CampaignDefinitionDefect) {
    let object = try field.object(known: known)
    conditions = try object["if"].map(Self.conditions) ?? [:]
    title = try object.required("title").template(scalarsMax: Self.titleScalarsMax)
    let body = try object.required("body")
    if case .array = body.value {
      bodies = try body.templates(Self.bodiesMax, scalarsMax: Self.bodyScalarsMax)
    } else {
      bodies = [try body.template(scalarsMax: Self.bodyScalarsMax)]
    }
    localised = try object.localised { field throws(CampaignDefinitionDefect) in
      try Self(field: field, known: ["title", "body"])
    }
  }

  private static func conditions(
    _ field: DefinitionField
  ) throws(CampaignDefinitionDefect) -> [String: Condition] {
    var conditions: [String: Condition] = [:]
    for (name, value) in try field.object().sorted { conditions[name] = try condition(value.named(name)) }
    return conditions
  }

  private static func condition(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> Condition {
    switch field.value {
    case .string: return .equals(try field.line(scalarsMax: TextLimits.templateValueMax))
    case .object:
      let object = try field.object(known: ["above", "known"])
      guard let known = object["known"] else { return .above(try object.required("above").number()) }
      guard try known.flag(), object.members.count == 1 else {
        throw known.defect(.outOfRange, expected: "true, alone")
      }
      return .known
    default: throw field.defect(.wrongType, expected: #"a string, {"above": number} or {"known": true}"#)
    }
  }

  func suited(to locale: LocaleTag?) -> SlotTextRule {
    guard !localised.isEmpty, let locale, let choice = LocaleChoice(asked: locale, among: { localised[$0] != nil })
    else { return self }
    return localised[choice.shown] ?? self
  }

  func applies(to values: [String: String]) -> Bool {
    conditions.allSatisfy { name, condition in values[name].map(condition.holds) ?? false }
  }

  /// The body for a user and day. One of which a name has no value takes part only where all are like that.
  func body(for user: some Sequence<UInt8>, on day: CivilDay, with values: [String: String]) -> TextTemplate {
    guard bodies.count > 1 else { return bodies[0] }
    let known = bodies.filter { $0.names.allSatisfy { values[$0] != nil } }
    let candidates = known.isEmpty ? bodies : known
    return candidates[TemplatePool.turn(among: candidates.count, for: user, on: day.number)]
  }
}

/// What a slot campaign asks a language model for: a body, under a title of the campaign's own.
///
/// The campaign's texts take its place where the model fails.
struct SlotComposer: Equatable {
  private static let titlesMax = 31
  private static let titleScalarsMax = 256

  let task: ModelTask
  /// Titles that take turns; empty for the title of the text that applies. One of which a name has no value is left out.
  let titles: [TextTemplate]
  /// The name of the value that counts the turns of titles; nil for the day's number.
  let titlesBy: String?

  /// Reads `{"task": "Greet a person.", "facts": ["name"], "titles": ["Hello, {{name}}!"], "titles_by": "streak"}`.
  init(field: DefinitionField) throws(CampaignDefinitionDefect) {
    let object = try field.object(known: ModelTask.keys + ["titles", "titles_by"])
    task = try ModelTask(object)
    titles = try object["titles"]?.templates(Self.titlesMax, scalarsMax: Self.titleScalarsMax) ?? []
    titlesBy = try object["titles_by"]?.tokenName()
  }

  func title(on day: CivilDay, with values: [String: String]) -> String? {
    let filled = titles.map { $0.filled(with: values) }.filter { $0.missing == 0 }
    guard !filled.isEmpty else { return nil }
    let turn = titlesBy.map { values[$0].flatMap { Int($0) } ?? 0 } ?? day.dayNumber
    return filled[turn.modulo(filled.count)].text.cut(clustersMax: CampaignText.titleClustersMax)
  }
}

struct SlotDraft {
  let prompt: ModelPrompt
  let title: String
}

extension SlotCampaignDefinition {
  /// What the model is asked for a row; nil without a composer, or without a text that applies.
  func draft(for occasion: SlotOccasion, values: SlotValues) -> SlotDraft? {
    guard let composer else { return nil }
    var (lines, _) = lines(for: occasion, values: values)
    guard
      let title = composer.title(on: occasion.fireDate, with: lines)
        ?? texts.first(where: { $0.applies(to: lines) })?.suited(to: values.locale).title.filled(with: lines).text
    else { return nil }
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    lines["weekday"] = lines["weekday"] ?? weekdays[occasion.fireDate.weekday - 1]
    return SlotDraft(prompt: composer.task.prompt(for: .body(title: title), with: lines), title: title)
  }
}
