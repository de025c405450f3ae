package import PushRules

/// A campaign as data: when it comes, what it is about, and its words. The database has its audience, and its hour where it
/// has no slots.
package struct CampaignDefinition: Equatable, Sendable {
  /// The slots of a user who has not moved any, in the order of the definition: at most 24, each time and each phase once.
  /// Empty for a campaign that comes at an hour.
  package let slots: [UserSlot]
  let way: SlotWay
  let category: SlotCategory
  /// Where the host has fetched values; nil without any.
  let content: ContentSource?
  /// What it may be about, in the order of evaluation, each once. Empty exactly where there are slots.
  let layers: [CampaignLayer]
  /// The subject of the layer ``CampaignLayer/occasion``, such as `evening reflection`; set exactly when the layer is used.
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
  /// - Throws: the first ``DefinitionDefect``, in the order of the keys above.
  package init(json: String) throws {
    let document = try DefinitionField(json: json)
    let hasSlots = document["slots"] != nil
    let root = try document.object(known: hasSlots ? Self.slotKeys : Self.hourKeys)
    slots = hasSlots ? try Self.slots(root.required("slots")) : []
    way = try root["way"]?.word() ?? .auto
    category = try root["category"].map(SlotCategory.init(field:)) ?? .daily
    content = try root["content"].map(Self.content)
    layers = hasSlots ? [] : try Self.layers(root.required("layers"))
    occasion = try Self.occasion(root, for: layers)
    composer = try root["composer"].map { try CampaignComposer(field: $0, hasSlots: hasSlots) }
    let hasPools = root["pools"] != nil || root["pool"] != nil
    pools = hasPools ? try TextPools(pools: root.required("pools"), name: root.required("pool")) : nil
    let needsTexts = composer?.onFailure != .skip
    texts =
      needsTexts || root["texts"] != nil
      ? try root.required("texts").elements(1...Self.textsMax).map { try TextRule(field: $0) } : []
    if needsTexts { try Self.check(texts, for: layers) }
    let reserved = Self.reservedPayloadKeys.union(hasSlots ? Self.reservedSlotKeys : [])
    payload = try root["payload"]?.payload(reserved: reserved) ?? (hasSlots ? ["action": TextTemplate("open")] : [:])
    try root["presentation"]?.checkPresentation(hasCategory: !hasSlots)
    hasCollapseID = root["presentation"]?["collapse_id"] != nil
  }

  private static func check(_ texts: [TextRule], for layers: [CampaignLayer]) throws {
    for type in layers.map(\.pushType)
    where !texts.contains(where: { $0.conditions["push_type"]?.holds(for: type) ?? true }) {
      throw DefinitionDefect(code: .noText, field: "texts", expected: "one for \(type)")
    }
  }

  private static func slots(_ field: DefinitionField) throws -> [UserSlot] {
    try field.objects(1...24, known: ["slot", "phase", "weekdays"], distinct: ["slot", "phase"]).map { object in
      UserSlot(
        slot: try object.required("slot").text(UserSlot.slotForm, expected: "HHmm, 0000 to 2359"),
        phase: try object["phase"]?.text(
          /[a-z][a-z0-9_]{0,31}/, expected: "a letter, then letters, digits or _, all lowercase, at most 32"),
        weekdays: try object["weekdays"].flatMap(weekdays))
    }
  }

  /// Ascending; nil for all.
  private static func weekdays(_ field: DefinitionField) throws -> [Int]? {
    let weekdays = try field.distinct(1...7, expected: "each weekday once").map { element in
      guard let weekday = Int(exactly: try element.number()), (1...7).contains(weekday) else {
        throw element.defect(.outOfRange, expected: "1 to 7")
      }
      return weekday
    }
    return weekdays.count == 7 ? nil : weekdays.sorted()
  }

  private static func layers(_ field: DefinitionField) throws -> [CampaignLayer] {
    let known = CampaignLayer.all.map { (word: $0.name, value: $0) }
    return try field.distinct(1...known.count, expected: "each layer once").map { try $0.word(among: known) }
  }

  private static func occasion(_ root: DefinitionField, for layers: [CampaignLayer]) throws -> String? {
    if layers.contains(.occasion) { return try root.required("occasion").line(scalarsMax: TextLimits.nameMax) }
    if let field = root["occasion"] { throw field.defect(.outOfRange, expected: "the layer occasion with it") }
    return nil
  }

  private static func content(_ field: DefinitionField) throws -> ContentSource {
    let url = try field.object(known: ["url"]).required("url")
    guard let source = ContentSource(try url.string()) else {
      throw url.defect(
        .outOfRange,
        expected: "an http or https URL of at most \(ContentSource.bytesMax) bytes, without braces except {user_id}")
    }
    return source
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
  fileprivate init(field: DefinitionField) throws {
    let object = try field.object(known: ["id", "actions"])
    id = try object.required("id").identifier()
    let actions = try object.required("actions")
      .objects(0...10, known: ["id", "title", "foreground"], distinct: ["id"])
    self.actions = try actions.map { action in
      SlotAction(
        id: try action.required("id").identifier(), title: try action.required("title").line(scalarsMax: 64),
        isForeground: try action.required("foreground").flag())
    }
  }
}

package struct SlotAction: Equatable, Sendable {
  package let id: String
  /// The button's label, at most 64 Unicode scalars.
  package let title: String
  package let isForeground: Bool
}
