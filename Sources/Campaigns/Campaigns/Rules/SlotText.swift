import FoundationEssentials
internal import PushRules
internal import TemporalReferences

// The same arguments give the same words.
extension CampaignDefinition {
  /// The text of the first rule whose conditions hold; nil without one.
  func text(
    with values: [String: String], in locale: LocaleTag?, for user: some Sequence<UInt8>, on day: Int
  ) -> FilledCampaignText? {
    texts.first { $0.applies(to: values) }?.filled(with: values, in: locale, for: user, on: day)
  }

  /// The words of an occasion of a slot, and the number of names without a value in title and body.
  ///
  /// The data has the definition's payload, `slot`, `fire_date`, `phase` if the slot has one, and `micro_action` as a number if the
  /// text uses the entry of a pool.
  /// - Parameter values: the material, with the fetched document over it.
  /// - Returns: nil when the conditions of no text hold.
  func words(for occasion: Occasion, values: CampaignValues) -> (words: OccasionWords, missing: Int)? {
    guard let day = occasion.day else { return nil }
    let (lines, entry) = lines(for: occasion, on: day, values: values)
    let filled = occasion.userID.withBytes { text(with: lines, in: values.locale, for: $0, on: day.number) }
    guard let filled else { return nil }
    let microAction = entry.flatMap { filled.names.isDisjoint(with: $0.values.keys) ? nil : $0.index }
    let data = data(
      with: lines,
      members: [
        "identifier": hasCollapseID ? .string(occasion.identifier) : nil, "slot": .string(occasion.slot),
        "fire_date": .string(occasion.fireDate), "phase": occasion.phase.map { .string($0) },
        "micro_action": microAction.map { .integer(Int64($0)) },
      ])
    let words = OccasionWords(
      title: filled.text.title, body: filled.text.body, category: category.id, data: data)
    return (words, filled.missing)
  }

  /// What the model is asked for an occasion of a slot; nil without a composer.
  /// - Parameter title: of the text that it is asked instead of.
  func question(for occasion: Occasion, values: CampaignValues, title: String) -> Draft.Question? {
    guard let composer, let task = composer.task, let day = occasion.day else { return nil }
    var lines = lines(for: occasion, on: day, values: values).values
    let title = composer.title(on: day, with: lines) ?? title
    lines["weekday"] = lines["weekday"] ?? day.weekdayName
    return Draft.Question(
      prompt: task.prompt(with: lines, isBodyOnly: true), check: ReplyCheck(rules: task.rules, title: title),
      limit: task.limit)
  }

  /// The values of all names. A pool's entry takes precedence over the material, and the occasion over both.
  private func lines(
    for occasion: Occasion, on day: CivilDay, values: CampaignValues
  ) -> (values: [String: String], entry: TextPools.Entry?) {
    var lines = values.lines
    for (name, value) in occasion.values { lines[name] = value }
    let entry = pools?.entry(on: day, with: lines)
    if let entry { lines.merge(entry.values) { $1 } }
    return (lines, entry)
  }

  /// The custom members of a push, a JSON object: the definition's payload, without members of which a name has no value, and others.
  func data(with values: [String: String], members: [String: PayloadValue?]) -> String {
    var data = members.compactMapValues { $0 }
    for (key, template) in payload {
      let (text, missing) = template.filled(with: values)
      if missing == 0 { data[key] = .string(text) }
    }
    // Not a JSON encoder, which took half of the time of a slot's words.
    return String(decoding: PayloadObject(sorting: data.map { ($0.key, $0.value) }).encoded(), as: UTF8.self)
  }
}

extension Occasion {
  var day: CivilDay? { CivilDay(fireDate) }

  /// The names of its values. No pool's entry can have them.
  static let valueNames: Set = ["date", "fire_date", "phase", "slot", "time"]

  /// Its values by name. They take precedence over all others, so `phase` hides other values even when it is nil.
  var values: [String: String?] {
    ["date": fireDate, "fire_date": fireDate, "phase": phase, "slot": slot, "time": localTime]
  }

  /// `HH:MM` on the user's clock when it is due, which differs from the slot where a change of the offset skips the slot's time; the
  /// slot's time in a zone that only the database has.
  private var localTime: String {
    guard let zone = ZoneDirectory.system.rules(of: timeZone) else { return slot.prefix(2) + ":" + slot.suffix(2) }
    let second = fireAt / 1_000_000
    let minute = ((Int(second) + zone.offset(at: second)) / 60).modulo(1_440)
    return DecimalDigits.text(minute / 60, width: 2) + ":" + DecimalDigits.text(minute % 60, width: 2)
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
  /// Why nothing is said: `already_done`, or `not_wanted` for any other reason of the host; nil when nothing is known against it.
  let skip: String?
  private let values: CampaignValues
  private let bySlot: [String: CampaignValues]

  /// Reads an object; nil for more than ``CampaignValues/documentBytesMax`` bytes, and for text that is not a JSON object.
  init?(json: String) {
    guard let values = CampaignValues(json: json) else { return nil }
    self.values = values
    skip = values.lines["skip"].map { $0 == "already_done" ? $0 : "not_wanted" }
    struct Document: Decodable { let slots: [String: CampaignValues] }
    // Most material has none, and a second reading takes as long as the first.
    let document =
      json.contains("\"slots\"") ? try? JSONDecoder().decode(Document.self, from: Data(json.utf8)) : nil
    bySlot = document?.slots ?? [:]
  }

  func values(for occasion: Occasion) -> CampaignValues {
    guard !bySlot.isEmpty, let weekday = occasion.day?.weekday else { return values }
    return [occasion.slot, "\(occasion.slot).\(weekday)"].reduce(values) { values, name in
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
