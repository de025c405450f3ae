internal import FoundationEssentials
internal import PushRules
package import PushStore

/// Why a campaign pushed a user, or did not: on each of the user's days on which it looked, and now.
package struct CampaignExplanation: Sendable {
  let story: CampaignStory
  private let campaign: String
  /// The user, in small letters.
  private let userID: String

  package init(_ story: CampaignStory, campaign: String, userID: String) {
    (self.story, self.campaign, self.userID) = (story, campaign, userID)
  }

  /// Whether there is such a campaign.
  package var isKnown: Bool { story.isKnown }

  /// What would keep the campaign back now, in a sentence.
  package var summary: String {
    if !story.isKnown { return "There is no campaign \(campaign)." }
    if let standing = story.standing { return "Now nothing would be sent. \(CampaignWords.sentence(standing))" }
    return "Now nothing would keep a push back." + (story.slots == nil ? " The campaign looks once on each day." : "")
  }

  /// For people: lines, each ended.
  package var text: String {
    let (slots, rows) = (story.slots ?? [], story.rows ?? [])
    var lines = ["campaign \(campaign), user \(userID)", summary]
    for day in story.days {
      lines.append("\(day.localDay) (\(day.timeZone)): \(day.summary)")
      lines += day.steps.map { "  \($0)" }
    }
    lines += slots.map { slot in
      "slot \(slot.slot)" + (slot.phase.map { " (\($0))" } ?? "") + (slot.isOn ? "" : ", switched off")
        + (slot.nextFireAt.map { ": due \(TimeText.instant($0))" } ?? "")
    }
    for row in rows {
      lines.append("\(row.localDay) \(row.slot) (\(row.timeZone)): \(row.summary)")
      lines += row.steps.map { "  \($0)" }
    }
    if story.days.isEmpty, slots.isEmpty, rows.isEmpty, isKnown {
      lines.append("On none of the days that are kept has the campaign looked at the user.")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// For programs, as UTF-8; `openapi.yaml` has the schema (`CampaignExplanation`).
  package var json: [UInt8] {
    let rows = story.rows ?? []
    let document: PayloadObject = [
      "campaign": .text(campaign), "user_id": .text(userID), "known": .boolean(isKnown), "summary": .text(summary),
      "standing": .text(story.standing), "days": .list(story.days.map(\.document)),
      "slots": story.slots?.isEmpty == false || !rows.isEmpty ? .list(rows.map(\.document)) : nil,
    ]
    return document.encoded()
  }
}

extension CampaignDayFacts {
  var summary: String {
    switch decision {
    case "committed": push.outcome
    case nil: "Nothing is decided yet."
    default: "Nothing was sent. \(CampaignWords.sentence(reason ?? "unknown"))"
    }
  }

  /// What led there, in order.
  var steps: [String] {
    let looks = attempts > 1 ? ", looked at \(attempts) times" : ""
    return ["noted \(TimeText.instant(renderedAt)) for \(TimeText.instant(fireAt))\(looks)"] + layers + writing + pushed
  }

  /// Each layer that found nothing, and the one that did.
  private var layers: [String] {
    var lines: [String] = []
    for note in inputs.objects("notes") {
      guard let layer = note.text("layer"), let rule = note.text("rule") else { continue }
      let numbers = Self.figures(of: note, but: ["layer", "rule", "doubts"]).joined(separator: ", ")
      let sentence = CampaignWords.sentence(rule) + (numbers.isEmpty ? "" : " (\(numbers))")
      lines.append("layer \(layer): \(sentence)\(Self.doubts(of: note))")
    }
    if let finding = inputs.object("finding"), let layer = finding.text("layer") {
      let found = Self.figures(of: finding, but: ["layer", "doubts"]).joined(separator: ", ")
      lines.append("layer \(layer): found \(found)\(Self.doubts(of: finding))")
    }
    return lines
  }

  /// What lowered the confidence of an event.
  private static func doubts(of object: PayloadObject) -> String {
    let words = object.texts("doubts")?.map(CampaignWords.doubt) ?? []
    return words.isEmpty ? "" : "; less certain because " + words.joined(separator: ", and ")
  }

  /// Names and values, without empty lists; seconds as lengths of time.
  private static func figures(of object: PayloadObject, but names: [String]) -> [String] {
    object.members.filter { !names.contains($0.key) && $0.value != .array([]) }.map { name, value in
      let words = name.replacing("_seconds", with: "").replacing("_", with: " ")
      guard name.contains("_seconds"), let seconds = value.number else { return "\(words) \(value.plain)" }
      return "\(words) \(TimeText.span(seconds: seconds))"
    }
  }

  private var writing: [String] {
    guard let writing = inputs.object("writing"), let by = writing.text("by") else { return [] }
    var lines: [String] = []
    if let failure = writing.text("failure") {
      // That there is no template is the campaign's failure, not the model's.
      lines.append((failure == "no_template" ? "" : "the model: ") + CampaignWords.sentence(failure))
      if let refusal = writing.text("refusal") { lines.append("its reason: " + CampaignWords.refusal(refusal)) }
    }
    if inputTokens + outputTokens > 0 {
      lines.append(
        "the model read \(inputTokens) and wrote \(outputTokens) tokens, for \(costMicrodollars) millionths of a dollar"
      )
    }
    if decision == "committed" { lines.append("written by the \(by)") }
    return lines
  }

  private var pushed: [String] {
    guard let push else { return [] }
    let words = (push.content ?? "").split(separator: "\n").map { "“\($0)”" }
    return words + push.acceptance + [push.opened ? "opened by the user" : "not opened"]
  }

  fileprivate var document: PayloadObject {
    [
      "local_day": .text(localDay), "time_zone": .text(timeZone), "summary": .text(summary),
      "decision": .text(decision), "reason": .text(reason), "layer": .text(layer), "due_at": .instant(fireAt),
      "decided_at": .instant(decidedAt), "run_id": .text(runID.lowercased),
      "steps": .array(steps.map { .string($0) }), "inputs": .object(inputs), "input_tokens": .count(inputTokens),
      "output_tokens": .count(outputTokens), "cost_microdollars": .count(costMicrodollars),
      "push": push.map { .object($0.document) },
    ]
  }
}

extension SlotRowFacts {
  /// What became of a slot on one of the user's days.
  var summary: String {
    switch status {
    case "scheduled": "It is scheduled."
    case "armed": armedBy == 1 ? "A device shows it without a push." : "\(armedBy) devices show it without a push."
    case "delivered", "opened": "\(push.outcome) It was shown."
    case _ where status == "sent" || push != nil: push.outcome
    case "cancelled": "It was cancelled. \(CampaignWords.sentence(reason ?? "unknown"))"
    default: "Nothing was sent. \(CampaignWords.sentence(reason ?? "unknown"))"
    }
  }

  /// What led there, in order.
  var steps: [String] {
    var lines = ["rendered \(TimeText.instant(renderedAt)) for \(TimeText.instant(fireAt))"]
    lines += [title, body].compactMap { $0 }.filter { !$0.isEmpty }.map { "“\($0)”" }
    if attempts > 1 { lines.append("claimed \(attempts) times") }
    if armedBy > 0 { lines.append("armed by \(CountWords.counted(armedBy, "device"))") }
    lines += push?.acceptance ?? []
    if status == "opened" || push?.opened == true { lines.append("opened by the user") }
    return lines
  }

  fileprivate var document: PayloadObject {
    [
      "slot": .text(slot), "phase": .text(phase), "local_day": .text(localDay), "time_zone": .text(timeZone),
      "fire_at": .instant(fireAt), "status": .text(status), "reason": .text(reason), "summary": .text(summary),
      "steps": .array(steps.map { .string($0) }), "push": push.map { .object($0.document) },
    ]
  }
}

extension CampaignPushFacts? {
  fileprivate var outcome: String {
    guard let push = self else { return "A push is queued." }
    if push.decision == "sent" { return "A push was sent." }
    if push.reason == ShadowedKinds.reason { return "Shadow: a push would have been sent." }
    return "A push was queued and is \(push.decision)" + (push.reason.map { " (\($0))" } ?? "") + "."
  }
}

extension CampaignPushFacts {
  /// When it was sent, or would have been; nothing when neither.
  fileprivate var acceptance: [String] {
    let what = reason == ShadowedKinds.reason ? "would have been sent" : "accepted by APNs"
    return sentAt.map { ["\(what) \(TimeText.instant($0))"] } ?? []
  }

  fileprivate var document: PayloadObject {
    [
      "push_log_id": .text(logID.lowercased), "push_type": .text(pushType), "decision": .text(decision),
      "reason": .text(reason), "content": .text(content), "opened": .boolean(opened), "sent_at": .instant(sentAt),
    ]
  }
}

extension PayloadValue {
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
