internal import FoundationEssentials
internal import PushRules
package import PushStore

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
