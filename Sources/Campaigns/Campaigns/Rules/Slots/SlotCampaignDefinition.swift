internal import PushRules
internal import TemporalReferences

/// A campaign of slots as data: its default slots, its texts and how they reach the device. The database holds its
/// audience and the users' slots.
package struct SlotCampaignDefinition: Equatable, Sendable {
  /// The slots of a user who has not moved any, in the order of the definition; 1 to 24. Each time and each phase occurs
  /// once.
  package let slots: [DefaultSlot]
  package let way: SlotWay
  package let category: SlotCategory
  /// The host's address of fetched values; nil without one. It may contain `{user_id}`.
  package let contentURL: String?
  let pools: SlotPools?
  /// What a language model writes; nil for a campaign of texts alone.
  package let composer: SlotComposer?
  /// The first whose conditions all hold is used.
  let texts: [SlotTextRule]
  /// Custom members of every push. A row adds `slot`, `fire_date`, `phase` and `micro_action`.
  let payload: [String: PayloadValue]
  /// Whether pushes have a collapse identifier of the campaign's own. Then a row's data has its identifier.
  let hasCollapseID: Bool
}

/// A slot of a user who has not moved it.
package struct DefaultSlot: Equatable, Sendable {
  package let slot: SlotTime
  /// Its phase: a lowercase letter, then lowercase letters, digits or `_`, at most 32 in total; nil without one.
  package let phase: String?
  /// The days of the week on which it fires, ascending, at least one: 1 for Monday to 7 for Sunday.
  package let weekdays: [Int]
}

/// How a campaign's texts reach the device. Definitions use the raw values.
package enum SlotWay: String, CaseIterable, Sendable {
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
  package static let daily = SlotCategory(
    id: "TS_DAILY", actions: [SlotAction(id: "OPEN", title: "Open", isForeground: true)])

  /// Categories that no definition of slots has: of pushes that ask a user back, and of achievements.
  package static let others = ["ACHIEVEMENT", "RE_ENGAGEMENT"].map { SlotCategory(id: $0, actions: []) }
}

/// A button of a notification.
package struct SlotAction: Equatable, Sendable {
  /// Its identifier, as of the category.
  package let id: String
  /// The button's label, at most 64 Unicode scalars.
  package let title: String
  /// Whether it opens the app.
  package let isForeground: Bool
}

/// Entries that take turns by the day number of the fire date.
struct SlotPools: Equatable {
  /// The name of the pool for a user and phase.
  let name: SlotTemplate
  /// 1 to 366 entries by name; each holds visible lines by token.
  let entries: [String: [[String: String]]]

  /// The entry of a day, and its index; nil when the name lacks a value or no pool has it.
  func turn(on day: CivilDay, with values: [String: String]) -> (index: Int, values: [String: String])? {
    let (name, missing) = name.filled(with: values)
    guard missing == 0, let pool = entries[name] else { return nil }
    let remainder = day.dayNumber % pool.count
    let index = remainder < 0 ? remainder + pool.count : remainder
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

  /// By the value's name.
  let conditions: [String: Condition]
  let title: SlotTemplate
  /// At least one. They take turns by user and day.
  let bodies: [SlotTemplate]
  /// The same in other locales, without conditions.
  let localised: [LocaleTag: SlotTextRule]

  func suited(to locale: LocaleTag?) -> SlotTextRule {
    guard !localised.isEmpty, let locale, let choice = LocaleChoice(asked: locale, among: { localised[$0] != nil })
    else { return self }
    return localised[choice.shown] ?? self
  }

  func applies(to values: [String: String]) -> Bool {
    conditions.allSatisfy { name, condition in values[name].map(condition.holds) ?? false }
  }

  /// The body for a user and day. One of which a token has no value takes part only where all are like that.
  func body(for user: some Sequence<UInt8>, on day: CivilDay, with values: [String: String]) -> SlotTemplate {
    guard bodies.count > 1 else { return bodies[0] }
    let known = bodies.filter { $0.tokens.allSatisfy { values[$0] != nil } }
    let candidates = known.isEmpty ? bodies : known
    return candidates[TemplatePool.turn(among: candidates.count, for: user, on: day.number)]
  }
}
