internal import FoundationEssentials
internal import PushRules
package import PushStore

/// Why a campaign pushed a user, or did not: on each of the user's days on which it looked, and now.
package struct CampaignExplanation: Equatable, Sendable {
  /// One of the user's days.
  package struct Day: Equatable, Sendable {
    package let facts: CampaignDayFacts
    package let summary: String
    /// What led there, in order.
    package let steps: [String]
  }

  package let campaign: String
  /// The user, in small letters.
  package let userID: String
  /// Whether there is such a campaign.
  package let isKnown: Bool
  /// What would keep the campaign back now; nil when nothing would.
  package let standing: String?
  /// The standing in a sentence.
  package let summary: String
  /// The days on which the campaign looked at the user, the newest first.
  package let days: [Day]
  /// The user's slots; empty for a campaign without slots.
  package let slots: [SlotFacts]
  /// What the slots say, the latest first.
  package let rows: [SlotRowExplanation]

  package init(_ story: CampaignStory, campaign: String, userID: String) {
    self.campaign = campaign
    self.userID = userID
    isKnown = story.isKnown
    standing = story.standing
    days = story.days.map(Day.init)
    slots = story.slots ?? []
    rows = (story.rows ?? []).map(SlotRowExplanation.init)
    summary =
      if !story.isKnown {
        "There is no campaign \(campaign)."
      } else if let standing = story.standing {
        "Now nothing would be sent. \(CampaignWords.sentence(standing))"
      } else {
        "Now nothing would keep a push back."
          + (story.slots == nil ? " The campaign looks once on each day." : "")
      }
  }

  /// For people: lines, each ended.
  package var text: String {
    var lines = ["campaign \(campaign), user \(userID)", summary]
    for day in days {
      lines.append("\(day.facts.localDay) (\(day.facts.timeZone)): \(day.summary)")
      lines += day.steps.map { "  \($0)" }
    }
    lines += slots.map { slot in
      "slot \(slot.slot)" + (slot.phase.map { " (\($0))" } ?? "") + (slot.isOn ? "" : ", switched off")
        + (slot.nextFireAt.map { ": due \(TimeText.instant($0))" } ?? "")
    }
    for row in rows { lines += [row.line] + row.steps.map { "  \($0)" } }
    if days.isEmpty, slots.isEmpty, rows.isEmpty, isKnown {
      lines.append("On none of the days that are kept has the campaign looked at the user.")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension CampaignExplanation.Day {
  init(_ facts: CampaignDayFacts) {
    self.facts = facts
    summary = Self.summary(facts)
    steps = Self.enrolment(facts) + Self.layers(facts) + Self.writing(facts) + Self.push(facts)
  }

  private static func summary(_ facts: CampaignDayFacts) -> String {
    switch facts.decision {
    case "committed": return CampaignPushWords.outcome(facts.push)
    case nil: return "Nothing is decided yet."
    default: return "Nothing was sent. \(CampaignWords.sentence(facts.reason ?? "unknown"))"
    }
  }

  private static func enrolment(_ facts: CampaignDayFacts) -> [String] {
    var line = "noted \(TimeText.instant(facts.enrolledAt)) for \(TimeText.instant(facts.dueAt))"
    if facts.attempts > 1 { line += ", looked at \(facts.attempts) times" }
    return [line]
  }

  /// Each layer that found nothing, and the one that did.
  private static func layers(_ facts: CampaignDayFacts) -> [String] {
    var lines: [String] = []
    for case .object(let note) in facts.inputs["notes"]?.elements ?? [] {
      guard let layer = note["layer"]?.text, let rule = note["rule"]?.text else { continue }
      let numbers = figures(of: note, but: ["layer", "rule", "doubts"]).joined(separator: ", ")
      let sentence = CampaignWords.sentence(rule) + (numbers.isEmpty ? "" : " (\(numbers))")
      lines.append("layer \(layer): \(sentence)\(doubts(of: note))")
    }
    if case .object(let finding) = facts.inputs["finding"], let layer = finding["layer"]?.text {
      let found = figures(of: finding, but: ["layer", "doubts"]).joined(separator: ", ")
      lines.append("layer \(layer): found \(found)\(doubts(of: finding))")
    }
    return lines
  }

  /// What lowered the confidence of an event.
  private static func doubts(of object: PayloadObject) -> String {
    let words = object["doubts"]?.elements?.compactMap(\.text).map(CampaignWords.doubt) ?? []
    return words.isEmpty ? "" : "; less certain because " + words.joined(separator: ", and ")
  }

  /// Names and values, without empty lists; seconds as lengths of time.
  private static func figures(of object: PayloadObject, but names: [String]) -> [String] {
    object.members.filter { !names.contains($0.key) && $0.value != .array([]) }.map { name, value in
      let words = name.replacing("_seconds", with: "").replacing("_", with: " ")
      guard name.contains("_seconds"), let seconds = value.double else { return "\(words) \(value.plain)" }
      return "\(words) \(TimeText.span(seconds: seconds))"
    }
  }

  private static func writing(_ facts: CampaignDayFacts) -> [String] {
    guard case .object(let writing) = facts.inputs["writing"], let by = writing["by"]?.text else { return [] }
    var lines: [String] = []
    if let failure = writing["failure"]?.text {
      // That there is no template is the campaign's failure, not the model's.
      let culprit = failure == "no_template" ? "" : "the model: "
      lines.append(culprit + CampaignWords.sentence(failure))
    }
    if facts.inputTokens + facts.outputTokens > 0 {
      lines.append(
        "the model read \(facts.inputTokens) and wrote \(facts.outputTokens) tokens, for \(facts.costMicrodollars) millionths of a dollar"
      )
    }
    if facts.decision == "committed" { lines.append("written by the \(by)") }
    return lines
  }

  private static func push(_ facts: CampaignDayFacts) -> [String] {
    guard let push = facts.push else { return [] }
    var lines = (push.content ?? "").split(separator: "\n").map { "“\($0)”" }
    if let line = CampaignPushWords.time(push) { lines.append(line) }
    lines.append(push.opened ? "opened by the user" : "not opened")
    return lines
  }
}

extension PayloadValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

  fileprivate var elements: [PayloadValue]? { if case .array(let values) = self { values } else { nil } }

  fileprivate var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value.value
    default: nil
    }
  }

  fileprivate var plain: String {
    switch self {
    case .string(let text): text
    case .array(let values): values.map(\.plain).joined(separator: " and ")
    case .integer(let value): "\(value)"
    case .number(let number): "\(number.value)"
    case .boolean(let value): "\(value)"
    case .null: "nothing"
    case .object: "…"
    }
  }
}

extension CampaignExplanation {
  /// For programs, as UTF-8; `openapi.yaml` has the schema (`CampaignExplanation`).
  package var json: [UInt8] {
    var object = PayloadObject()
    object["campaign"] = .string(campaign)
    object["user_id"] = .string(userID)
    object["known"] = .boolean(isKnown)
    object["summary"] = .string(summary)
    object["standing"] = standing.map(PayloadValue.string)
    object["days"] = .array(days.map { .object($0.document) })
    if !slots.isEmpty || !rows.isEmpty { object["slots"] = .array(rows.map { .object($0.document) }) }
    return object.encoded()
  }
}

extension CampaignExplanation.Day {
  fileprivate var document: PayloadObject {
    var object = PayloadObject()
    object["local_day"] = .string(facts.localDay)
    object["time_zone"] = .string(facts.timeZone)
    object["summary"] = .string(summary)
    object["decision"] = facts.decision.map(PayloadValue.string)
    object["reason"] = facts.reason.map(PayloadValue.string)
    object["layer"] = facts.layer.map(PayloadValue.string)
    object["due_at"] = .string(TimeText.instant(facts.dueAt))
    object["decided_at"] = facts.decidedAt.map { .string(TimeText.instant($0)) }
    object["run_id"] = .string(facts.runID.lowercased)
    object["steps"] = .array(steps.map(PayloadValue.string))
    object["inputs"] = .object(facts.inputs)
    object["input_tokens"] = .integer(Int64(facts.inputTokens))
    object["output_tokens"] = .integer(Int64(facts.outputTokens))
    object["cost_microdollars"] = .integer(Int64(facts.costMicrodollars))
    object["push"] = facts.push.map { .object($0.document) }
    return object
  }
}

extension CampaignPushFacts {
  var document: PayloadObject {
    var object = PayloadObject()
    object["push_log_id"] = .string(logID.lowercased)
    object["push_type"] = .string(pushType)
    object["decision"] = .string(decision)
    object["reason"] = reason.map(PayloadValue.string)
    object["content"] = content.map(PayloadValue.string)
    object["opened"] = .boolean(opened)
    object["sent_at"] = sentAt.map { .string(TimeText.instant($0)) }
    return object
  }
}

/// What became of a slot on one of the user's days.
package struct SlotRowExplanation: Equatable, Sendable {
  package let facts: SlotRowFacts
  package let summary: String
  /// What led there, in order.
  package let steps: [String]

  init(_ facts: SlotRowFacts) {
    self.facts = facts
    summary = Self.summary(facts)
    steps = Self.steps(facts)
  }

  private static func summary(_ facts: SlotRowFacts) -> String {
    switch facts.status {
    case "scheduled": "It is scheduled."
    case "armed":
      facts.armedBy == 1 ? "A device shows it without a push." : "\(facts.armedBy) devices show it without a push."
    case "cancelled": "It was cancelled. \(CampaignWords.sentence(facts.reason ?? "unknown"))"
    case "sent", "delivered", "opened": CampaignPushWords.outcome(facts.push) + (isShown(facts) ? " It was shown." : "")
    default: "Nothing was sent. \(CampaignWords.sentence(facts.reason ?? "unknown"))"
    }
  }

  private static func isShown(_ facts: SlotRowFacts) -> Bool { facts.status != "sent" }

  private static func steps(_ facts: SlotRowFacts) -> [String] {
    var lines = ["rendered \(TimeText.instant(facts.renderedAt)) for \(TimeText.instant(facts.fireAt))"]
    lines += [facts.title, facts.body].compactMap { $0 }.filter { !$0.isEmpty }.map { "“\($0)”" }
    if facts.attempts > 1 { lines.append("claimed \(facts.attempts) times") }
    if facts.armedBy > 0 { lines.append("armed by \(facts.armedBy) device\(facts.armedBy == 1 ? "" : "s")") }
    if let line = CampaignPushWords.time(facts.push) { lines.append(line) }
    if facts.status == "opened" || facts.push?.opened == true { lines.append("opened by the user") }
    return lines
  }

  var line: String { "\(facts.localDay) \(facts.slot) (\(facts.timeZone)): \(summary)" }

  var document: PayloadObject {
    var object = PayloadObject()
    object["slot"] = .string(facts.slot)
    object["phase"] = facts.phase.map(PayloadValue.string)
    object["local_day"] = .string(facts.localDay)
    object["time_zone"] = .string(facts.timeZone)
    object["fire_at"] = .string(TimeText.instant(facts.fireAt))
    object["status"] = .string(facts.status)
    object["reason"] = facts.reason.map(PayloadValue.string)
    object["summary"] = .string(summary)
    object["steps"] = .array(steps.map(PayloadValue.string))
    object["push"] = facts.push.map { .object($0.document) }
    return object
  }
}

/// What became of a campaign's push.
enum CampaignPushWords {
  /// When it was sent, or would have been; nil when neither.
  static func time(_ push: CampaignPushFacts?) -> String? {
    guard let push, let sentAt = push.sentAt else { return nil }
    let what = push.reason == ShadowedKinds.reason ? "would have been sent" : "accepted by APNs"
    return "\(what) \(TimeText.instant(sentAt))"
  }

  static func outcome(_ push: CampaignPushFacts?) -> String {
    guard let push else { return "A push is queued." }
    if push.decision == "sent" { return "A push was sent." }
    if push.reason == ShadowedKinds.reason { return "Shadow: a push would have been sent." }
    return "A push was queued and is \(push.decision)" + (push.reason.map { " (\($0))" } ?? "") + "."
  }
}
