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
    return task.question(with: lines, title: title)
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

/// The values of tokens and conditions by name, from the host's material or a fetched document. The document is foreign
/// and may be hostile.
///
/// ```json
/// {"name": "Ana", "skip": "already_done", "slots": {"0730": {"type": "Run"}, "0730.3": {"type": "Swim"}}}
/// ```
///
/// Strings, numbers and booleans count. Each becomes one line without control characters. Null, blank and nested members
/// are absent, but for `slots`, which has values by slot, or by slot and weekday, which take precedence.
struct CampaignValues: Equatable, Sendable {
  static let documentBytesMax = 65_536
  /// The most Unicode scalars of one value: enough for a body of 200 emoji with joiners and skin tones.
  static let valueScalarsMax = 2_400
  /// Nested members are not looked at, whatever the host has there.
  private static let limits = JSONLimits(depthMax: 512, elementsMax: 200_000, losesDigits: true)

  /// Visible lines by name.
  let lines: [String: String]
  private var bySlot: [String: CampaignValues] = [:]

  init(lines: [String: String] = [:]) { self.lines = lines }

  init(_ document: PayloadObject) {
    lines = document.members.reduce(into: [:]) { $0[$1.key] = $1.value.line }
    bySlot = (document.object("slots") ?? [:]).members.reduce(into: [:]) {
      $0[$1.key] = $1.value.object.map { CampaignValues($0) }
    }
  }

  /// Reads an object.
  /// - Parameter json: the material, or the fetched document.
  /// - Returns: nil for more than ``documentBytesMax`` bytes, and for text that is not a JSON object.
  init?(json: String) {
    guard let document = Self.document(json) else { return nil }
    self.init(document)
  }

  /// What the host says of a user, or a fetched document; nil for text that is not a JSON object.
  static func document(_ json: String, bytesMax: Int = documentBytesMax) -> PayloadObject? {
    guard json.utf8.count <= bytesMax else { return nil }
    return (try? PayloadValue(json: Array(json.utf8), limits: limits))?.object
  }

  var locale: LocaleTag? { lines["locale"].flatMap { LocaleTag($0) } }

  /// Why nothing is to be said now: `already_done`, or `not_wanted` for any other reason of the host; nil when nothing is known
  /// against it.
  var skip: String? { lines["skip"].map { $0 == "already_done" ? $0 : "not_wanted" } }

  func values(for occasion: Occasion) -> CampaignValues {
    guard !bySlot.isEmpty, let weekday = occasion.day?.weekday else { return self }
    return [occasion.slot, "\(occasion.slot).\(weekday)"].reduce(self) { values, name in
      bySlot[name].map(values.overlaid) ?? values
    }
  }

  /// These values with others over them, such as the material with the fetched document over it.
  func overlaid(with others: CampaignValues) -> CampaignValues {
    CampaignValues(lines: lines.merging(others.lines) { $1 })
  }

  /// A value on one line; nil without a visible character.
  static func line(_ text: String) -> String? { text.line(scalarsMax: valueScalarsMax, isFenced: false) }
}

extension PayloadValue {
  /// As a value of texts; nil for null, an array and an object. A whole number has no point.
  fileprivate var line: String? {
    switch self {
    case .string(let text): CampaignValues.line(text)
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .number(let number): Int64(exactly: number.value).map { String($0) } ?? String(number.value)
    case .null, .array, .object: nil
    }
  }
}
