import FoundationEssentials
internal import PushRules
internal import TemporalReferences

/// The words of an occasion of a slot.
struct SlotText {
  let title: String
  let body: String
  /// Custom members of the push, a JSON object without spaces whose keys are sorted: the definition's payload, `slot`,
  /// `fire_date`, `phase` if the slot has one, and `micro_action` as a number if a pool was used.
  let data: String
  /// The number of names without a value in title and body.
  let missing: Int
  /// The index of the pool's entry; nil when title and body use no value of a pool.
  let microAction: Int?
}

/// What a language model is asked for, and the title above it.
struct SlotDraft {
  let prompt: ModelPrompt
  let title: String
}

extension CampaignDefinition {
  /// The text of the first rule whose conditions hold; nil without one.
  func text(
    with values: [String: String], in locale: LocaleTag?, for user: some Sequence<UInt8>, on day: Int
  ) -> FilledCampaignText? {
    texts.first { $0.applies(to: values) }?.filled(with: values, in: locale, for: user, on: day)
  }

  /// The text of an occasion of a slot. The same arguments give the same text.
  ///
  /// Where several sources have a value of the same name, the pool's entry takes precedence over `values`. The occasion
  /// takes precedence over both.
  /// - Parameters:
  ///   - values: the material, with the fetched document over it.
  ///   - user: the bytes of the user's identifier, by which texts take turns.
  /// - Returns: nil when the conditions of no text hold.
  func text(
    for occasion: SlotOccasion, values: CampaignValues, user: some Sequence<UInt8> = EmptyCollection()
  ) -> SlotText? {
    let (lines, turn) = lines(for: occasion, values: values)
    guard let filled = text(with: lines, in: values.locale, for: user, on: occasion.fireDate.number) else { return nil }
    let isPoolUsed = turn.map { !filled.names.isDisjoint(with: $0.values.keys) } ?? false
    let microAction = isPoolUsed ? turn?.index : nil
    return SlotText(
      title: filled.text.title, body: filled.text.body, data: data(for: occasion, lines, microAction: microAction),
      missing: filled.missing, microAction: microAction)
  }

  /// What the model is asked for an occasion of a slot; nil without a composer.
  /// - Parameter title: of the text that it is asked instead of.
  func draft(
    for occasion: SlotOccasion, values: CampaignValues, title: String
  ) -> SlotDraft? {
    guard let composer, let task = composer.task else { return nil }
    var (lines, _) = lines(for: occasion, values: values)
    let title = composer.title(on: occasion.fireDate, with: lines) ?? title
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    lines["weekday"] = lines["weekday"] ?? weekdays[occasion.fireDate.weekday - 1]
    return SlotDraft(prompt: task.prompt(with: lines, isBodyOnly: true), title: title)
  }

  /// The custom members of a push; those of which a name has no value are left out.
  func payload(with values: [String: String]) -> [String: String] {
    payload.compactMapValues { template in
      let (text, missing) = template.filled(with: values)
      return missing == 0 ? text : nil
    }
  }

  /// The values of all names, and the turn of the pool; see ``text(for:values:user:)``.
  func lines(
    for occasion: SlotOccasion, values: CampaignValues
  ) -> (values: [String: String], turn: (index: Int, values: [String: String])?) {
    var lines = values.lines
    for (name, value) in occasion.values { lines[name] = value }
    let turn = pools?.turn(on: occasion.fireDate, with: lines)
    if let turn { lines.merge(turn.values) { $1 } }
    return (lines, turn)
  }

  /// Written here because a row is rendered for each user, slot and day, and a JSON encoder took half of that time.
  private func data(for occasion: SlotOccasion, _ lines: [String: String], microAction: Int?) -> String {
    var members = payload(with: lines).mapValues(\.jsonLiteral)
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

/// What a host knows of one user for slots: values for all of them, and values for single ones.
///
/// ```json
/// {"name": "Ana", "skip": "already_done", "slots": {"0730": {"type": "Run"}, "0730.3": {"type": "Swim"}}}
/// ```
///
/// `slots` has values by slot, or by slot and weekday, which take precedence. `skip` says that nothing is to be said now.
struct SlotMaterial {
  enum Skip: String {
    case alreadyDone = "already_done"
    /// Any other reason of the host.
    case notWanted = "not_wanted"
  }

  /// Why nothing is said; nil when nothing is known against it.
  let skip: Skip?
  private let values: CampaignValues
  private let bySlot: [String: CampaignValues]

  /// Reads an object; nil for more than ``CampaignValues/documentBytesMax`` bytes, and for text that is not a JSON object.
  init?(json: String) {
    guard let values = CampaignValues(json: json) else { return nil }
    self.values = values
    skip = values.lines["skip"].map { Skip(rawValue: $0) ?? .notWanted }
    struct Document: Decodable { let slots: [String: CampaignValues] }
    // Most material has none, and a second reading takes as long as the first.
    let document =
      json.contains("\"slots\"") ? try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) : nil
    bySlot = document?.slots ?? [:]
  }

  func values(for occasion: SlotOccasion) -> CampaignValues {
    guard !bySlot.isEmpty else { return values }
    let slot = occasion.slot.description
    return [slot, "\(slot).\(occasion.fireDate.weekday)"].reduce(values) { values, name in
      bySlot[name].map(values.overlaid) ?? values
    }
  }
}

/// The values of tokens and conditions by name, from the host's material or a fetched document. The document is foreign
/// and may be hostile.
///
/// Strings, numbers and booleans count. Each becomes one line without control characters. Null, blank and nested members
/// are absent.
struct CampaignValues: Equatable, Sendable {
  static let documentBytesMax = 65_536
  /// The most Unicode scalars of one value: enough for a body of 200 emoji with joiners and skin tones.
  static let valueScalarsMax = 2_400

  /// Visible lines by name.
  let lines: [String: String]

  var locale: LocaleTag? { lines["locale"].flatMap { LocaleTag($0) } }

  /// Reads an object.
  /// - Parameter json: the material, or the fetched document.
  /// - Returns: nil for more than ``documentBytesMax`` bytes, and for text that is not a JSON object.
  init?(json: String) {
    guard json.utf8.count <= Self.documentBytesMax,
      let values = try? JSONDecoder().decode(CampaignValues.self, from: Data(json.utf8))
    else { return nil }
    self = values
  }

  init(lines: [String: String] = [:]) { self.lines = lines }

  /// These values with others over them, such as the material with the fetched document over it.
  func overlaid(with others: CampaignValues) -> CampaignValues {
    CampaignValues(lines: lines.merging(others.lines) { $1 })
  }

  /// A value on one line; nil without a visible character.
  static func line(_ text: String) -> String? {
    let line = DataLine(text, scalarsMax: valueScalarsMax, isFenced: false).text
    return line.isEmpty ? nil : line
  }
}

extension CampaignValues: Decodable {
  init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode([String: Scalar].self)
    self.init(lines: members.compactMapValues { $0.text.flatMap(Self.line) })
  }
}

/// A member's value as text. Strings are tried first, because most values are strings and a failed try is slow.
private struct Scalar: Decodable {
  /// Nil for null, an array, an object, and a number beyond `Double`.
  let text: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let flag = try? container.decode(Bool.self) {
      text = flag ? "true" : "false"
    } else if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = (try? container.decode(Double.self)).map { String($0) }
    }
  }
}

/// One slot of one campaign on one local day: what a row is rendered for.
struct SlotOccasion {
  let campaign: String
  let slot: SlotTime
  /// The slot's phase, such as `morning`; nil for a slot without one.
  let phase: String?
  /// The local day of the slot. It does not depend on when the row is rendered.
  let fireDate: CivilDay
  /// The user's wall-clock time when it fires, `HH:MM`. It differs from the slot only where a change of the offset
  /// skips the slot's time.
  let localTime: String

  /// - Parameter localTime: `HH:MM`; nil for the slot's time.
  init(campaign: String, slot: SlotTime, phase: String?, fireDate: CivilDay, localTime: String? = nil) {
    self.campaign = campaign
    self.slot = slot
    self.phase = phase
    self.fireDate = fireDate
    self.localTime = localTime ?? slot.clockText
  }

  /// `<campaign>.<slot>.<fire_date>`: the local request's identifier and the push's collapse identifier. APNs takes 64
  /// bytes, so the campaign's name may have 48.
  var identifier: String { "\(campaign).\(slot).\(fireDate.description)" }

  /// The names of its values. No pool's entry can have them.
  static let names: Set = ["date", "fire_date", "phase", "slot", "time"]

  /// The values of its tokens. They take precedence over all others, so `phase` hides other values even when it is nil.
  var values: [(name: String, value: String?)] {
    [
      ("date", fireDate.description), ("fire_date", fireDate.description), ("phase", phase),
      ("slot", slot.description), ("time", localTime),
    ]
  }
}

/// A time of the user's day, as a slot names it: `0800`. It does not change with the user's zone.
struct SlotTime: Hashable, CustomStringConvertible {
  /// Minutes since 00:00 on the clock, 0 to 1439.
  let minutes: Int

  init(minutes: Int) { self.minutes = minutes }

  /// Reads `HHmm`: exactly four ASCII digits, `0000` to `2359`. Nil for any other text.
  init?(_ text: String) {
    guard text.utf8.count == 4, let digits = DecimalDigits.number(text.utf8) else { return nil }
    let (hour, minute) = digits.quotientAndRemainder(dividingBy: 100)
    guard hour < 24, minute < 60 else { return nil }
    minutes = hour * 60 + minute
  }

  /// The time with a colon, as the token `time` shows it: `08:00`.
  var clockText: String {
    DecimalDigits.text(minutes / 60, width: 2) + ":" + DecimalDigits.text(minutes % 60, width: 2)
  }

  /// The four digits: `0800`.
  var description: String { DecimalDigits.text(minutes / 60 * 100 + minutes % 60, width: 4) }
}
