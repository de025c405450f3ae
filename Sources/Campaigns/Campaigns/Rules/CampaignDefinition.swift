internal import PushRules
internal import TemporalReferences

/// A campaign as data: when it comes, what it is about, and its words. The database has its audience, and its hour where it
/// has no slots.
package struct CampaignDefinition: Equatable, Sendable {
  /// The slots of a user who has not moved any, in the order of the definition: at most 24, each time and each phase once.
  /// Empty for a campaign that comes at an hour.
  package let slots: [DefaultSlot]
  let way: SlotWay
  let category: SlotCategory
  /// The host's address of fetched values; nil without one. It may contain `{user_id}`.
  let contentURL: String?
  /// What it may be about, in the order of evaluation, each once. Empty exactly where there are slots.
  let layers: [CampaignLayer]
  /// The subject of ``OccasionLayer``, such as `evening reflection`; set exactly when the layer is used.
  let occasion: String?
  /// What a language model writes; nil for a campaign of texts alone.
  let composer: CampaignComposer?
  let pools: TextPools?
  /// The first whose conditions all hold is used.
  let texts: [TextRule]
  /// Custom members of every push. One of which a name has no value is left out.
  let payload: [String: TextTemplate]
  /// Whether pushes have a collapse identifier of the campaign's own. Then the data of a slot's push has its identifier.
  let hasCollapseID: Bool

  package var hasSlots: Bool { !slots.isEmpty }

  func evaluation(of material: CampaignMaterial) -> LayerEvaluation {
    LayerEvaluation(
      of: material, layers: layers, settings: LayerSettings(occasion: OccasionLayer(occasion: occasion)))
  }
}

package struct CampaignDefinitionDefect: Error, Equatable, CustomStringConvertible {
  /// The kind of mistake. Raw values are stable.
  package enum Code: String, CaseIterable, Sendable {
    case notJSON = "not_json"
    /// The key is unknown, or it is a payload key that the service itself sets.
    case unknownKey = "unknown_key"
    case missingKey = "missing_key"
    case wrongType = "wrong_type"
    case unknownWord = "unknown_word"
    /// The number, or the length, is outside its limits.
    case outOfRange = "out_of_range"
    case repeated
    case invalidTemplate = "invalid_template"
    /// There is no text for a push type that the campaign may send.
    case noText = "no_text"
  }

  let code: Code
  /// The place as a path of keys and indices: `texts[0].title`; `$` for the document itself.
  let field: String
  let expected: String

  /// For the author of the definition: `layers[1]: unknown_word, expected one of: event, pattern`.
  package var description: String { "\(field): \(code.rawValue), expected \(expected)" }
}

extension CampaignDefinition {
  private static let commonKeys = ["composer", "pools", "pool", "texts", "payload", "presentation"]
  private static let slotKeys = ["slots", "way", "category", "content"] + commonKeys
  private static let hourKeys = ["layers", "occasion"] + commonKeys
  private static let textsMax = 100

  /// Keys that the service itself sets in payloads.
  private static let reservedPayloadKeys: Set<String> = [
    "aps", "domain", "push_type", "push_log_id", "subject_id", "type",
  ]
  private static let reservedSlotKeys: Set<String> = ["fire_date", "identifier", "micro_action", "phase", "slot"]

  /// Reads a definition: of a campaign with slots,
  ///
  /// ```json
  /// {"slots": [{"slot": "0800", "phase": "morning", "weekdays": [1, 2, 3, 4, 5]}],
  ///  "way": "auto",
  ///  "category": {"id": "DAILY", "actions": [{"id": "OPEN", "title": "Open", "foreground": true}]},
  ///  "content": {"url": "https://host.example/content/{user_id}"},
  ///  "composer": {"task": "Say something about the weather.", "facts": ["weather"], "titles": ["Day {streak}"]},
  ///  "pools": {"cold.morning": [{"text": "Drink a glass of warm water", "seconds": "10"}]},
  ///  "pool": "{group}.{phase}",
  ///  "texts": [{"if": {"phase": "morning", "streak": {"above": 3}}, "title": "Day {streak}", "body": "{text}"}],
  ///  "payload": {"action": "open"},
  ///  "presentation": {"sound": "reminder.caf", "collapse_id": "daily_{phase}"}}
  /// ```
  ///
  /// or of one with an hour:
  ///
  /// ```json
  /// {"layers": ["event", "pattern", "re_engagement"],
  ///  "composer": {"on_failure": "skip"},
  ///  "texts": [{"if": {"push_type": "event_based"}, "title": "Your {event}", "body": "It is {when}."}],
  ///  "payload": {"action": "new_conversation"},
  ///  "presentation": {"category": "CHECK_IN", "collapse_id": "check_in"}}
  /// ```
  ///
  /// Only `slots` or `layers` are required, `occasion` with the layer of that name, and `texts` unless a model's failure is
  /// silence. A slot has no phase and fires on all days by default. The way is `auto`, the category ``SlotCategory/daily`` and
  /// the payload of slots `{"action": "open"}` by default. `pools` and `pool` come together.
  /// - Throws: the first ``CampaignDefinitionDefect``, in the order of the keys above.
  package init(json: String) throws(CampaignDefinitionDefect) {
    let document = try DefinitionObject(json: json)
    let hasSlots = document.members["slots"] != nil
    let root = try document.field.object(known: hasSlots ? Self.slotKeys : Self.hourKeys)
    slots = hasSlots ? try Self.slots(root.required("slots")) : []
    way = try root["way"]?.word() ?? .auto
    category = try root["category"].map(SlotCategory.init(field:)) ?? .daily
    contentURL = try root["content"].map(Self.contentURL)
    layers = hasSlots ? [] : try Self.layers(root.required("layers"))
    occasion = try Self.occasion(root["occasion"], for: layers)
    composer = try root["composer"].map { field throws(CampaignDefinitionDefect) in
      try CampaignComposer(field: field, hasSlots: hasSlots)
    }
    let hasPools = root["pools"] != nil || root["pool"] != nil
    pools = hasPools ? try TextPools(pools: root.required("pools"), name: root.required("pool")) : nil
    let needsTexts = composer?.onFailure != .skip
    texts =
      needsTexts || root["texts"] != nil
      ? try root.required("texts").elements(1...Self.textsMax).map(TextRule.init(field:)) : []
    if needsTexts { try Self.check(texts, for: layers) }
    let reserved = Self.reservedPayloadKeys.union(hasSlots ? Self.reservedSlotKeys : [])
    payload = try root["payload"]?.payload(reserved: reserved) ?? (hasSlots ? ["action": TextTemplate("open")] : [:])
    try root["presentation"]?.checkPresentation(hasCategory: !hasSlots)
    hasCollapseID = try root["presentation"]?.object()["collapse_id"] != nil
  }

  private static func check(_ texts: [TextRule], for layers: [CampaignLayer]) throws(CampaignDefinitionDefect) {
    for type in layers.map(\.pushType) {
      let hasText = texts.contains { $0.conditions["push_type"]?.holds(for: type) ?? true }
      if !hasText { throw CampaignDefinitionDefect(code: .noText, field: "texts", expected: "one for \(type)") }
    }
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

  private static func layers(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [CampaignLayer] {
    var layers: [CampaignLayer] = []
    for element in try field.elements(1...CampaignLayer.allCases.count) {
      let layer: CampaignLayer = try element.word()
      if layers.contains(layer) { throw element.defect(.repeated, expected: "each layer once") }
      layers.append(layer)
    }
    return layers
  }

  private static func occasion(
    _ field: DefinitionField?, for layers: [CampaignLayer]
  ) throws(CampaignDefinitionDefect) -> String? {
    let isNeeded = layers.contains(.occasion)
    guard let field else {
      if isNeeded { throw CampaignDefinitionDefect(code: .missingKey, field: "occasion", expected: "a value") }
      return nil
    }
    let text = try field.string()
    guard isNeeded, let occasion = TextLimits.theme(text), occasion == text else {
      throw field.defect(.outOfRange, expected: "1 to \(TextLimits.themeMax) characters, with the layer occasion")
    }
    return occasion
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
package struct DefaultSlot: Equatable, Sendable {
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
    guard phase.utf8.count <= 32, phase.isValueName, phase.first?.isLetter == true else {
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
