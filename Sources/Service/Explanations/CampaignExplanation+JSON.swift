internal import APNSCore
internal import FoundationEssentials
internal import PushStore

extension CampaignExplanation {
  /// For programs, as UTF-8; `openapi.yaml` has the schema (`CampaignExplanation`).
  public var json: [UInt8] {
    var object = PayloadObject()
    object["campaign"] = .string(campaign)
    object["user_id"] = .string(userID)
    object["known"] = .boolean(isKnown)
    object["summary"] = .string(summary)
    object["standing"] = standing.map(PayloadValue.string)
    object["days"] = .array(days.map { .object($0.document) })
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
    object["run_id"] = .string(facts.runID.uuidString.lowercased())
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
  fileprivate var document: PayloadObject {
    var object = PayloadObject()
    object["push_log_id"] = .string(logID.uuidString.lowercased())
    object["push_type"] = .string(pushType)
    object["decision"] = .string(decision)
    object["reason"] = reason.map(PayloadValue.string)
    object["content"] = content.map(PayloadValue.string)
    object["opened"] = .boolean(opened)
    object["sent_at"] = sentAt.map { .string(TimeText.instant($0)) }
    return object
  }
}
