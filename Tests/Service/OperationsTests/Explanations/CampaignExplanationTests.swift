import Foundation
import PushRules
import Testing

@testable import Operations
@testable import PushStore

@Suite("An explanation of a campaign")
struct CampaignExplanationTests {
  private static let user = "22222222-2222-4222-8222-222222222222"
  private static let run = "33333333-3333-4333-8333-333333333333"
  private static let log = "44444444-4444-8444-8444-444444444444"
  private static let noon: Int64 = 1_790_000_000_000_000

  private static func day(
    _ decision: String?, _ reason: String? = nil, inputs: String = "{}", tokens: Int = 0, attempts: Int = 1,
    push: CampaignPushFacts? = nil
  ) throws -> CampaignDayFacts {
    CampaignDayFacts(
      localDay: "2026-09-21", timeZone: "Europe/Berlin", attempts: attempts, runID: try #require(UUID(uuidString: run)),
      fireAt: noon, renderedAt: noon, decidedAt: decision.map { _ in noon + 1_500_000 }, decision: decision,
      reason: reason, layer: nil, inputs: try JSONDecoder().decode(PayloadObject.self, from: Data(inputs.utf8)),
      inputTokens: tokens, outputTokens: tokens / 10, costMicrodollars: tokens * 2, pushID: nil, push: push)
  }

  private static func push(
    _ decision: String = "sent", _ reason: String? = nil, opened: Bool = false
  ) throws -> CampaignPushFacts {
    CampaignPushFacts(
      logID: try #require(UUID(uuidString: log)), pushType: "event_based", decision: decision, reason: reason,
      content: decision == "sent" ? "Tomorrow\nHow do you feel?" : nil, opened: opened,
      sentAt: decision == "sent" ? noon + 2_000_000 : nil)
  }

  private static func explanation(
    _ days: [CampaignDayFacts], standing: String? = nil, isKnown: Bool = true
  ) -> CampaignExplanation {
    CampaignExplanation(
      CampaignStory(isKnown: isKnown, now: noon, standing: standing, days: days), campaign: "coach", userID: user)
  }

  @Test("tells of a push from the note to the tap")
  func sent() throws {
    let inputs = """
      {"finding": {"layer": "event", "event": "presentation", "confidence": 0.9, "themes": [], "domains": ["work", "home"]},
       "writing": {"by": "model"}}
      """
    let day = try Self.day("committed", inputs: inputs, tokens: 700, push: Self.push(opened: true))
    let text = Self.explanation([day], standing: "pushed_today").text
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "campaign coach, user \(Self.user)",
        "Now nothing would be sent. A push of the campaign's cap group was queued for the user on that day already.",
        "2026-09-21 (Europe/Berlin): A push was sent.",
        "  noted 2026-09-21T14:13:20.000Z for 2026-09-21T14:13:20.000Z",
        "  layer event: found confidence 0.9, domains work and home, event presentation",
        "  the model read 700 and wrote 70 tokens, for 1400 millionths of a dollar",
        "  written by the model", "  “Tomorrow”", "  “How do you feel?”",
        "  accepted by APNs 2026-09-21T14:13:22.000Z", "  opened by the user",
      ])
  }

  @Test("tells of each layer that found nothing, and by what figures: as people write them, seconds as lengths of time")
  func nothing() throws {
    let inputs = """
      {"notes": [{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000},
        {"layer": "event", "rule": "event_confidence_low", "confidence": 0.6, "doubts": ["unread_word", "no_verb"]},
        {"layer": "pattern", "rule": "recently_active", "inactive_seconds": 86404.98, "inactive_seconds_needed": 172800},
        {"layer": "pattern", "rule": "no_valid_pattern"}]}
      """
    let day = try Self.day("skipped", "nothing_to_say", inputs: inputs, attempts: 2)
    #expect(day.summary == "Nothing was sent. No layer found anything to say.")
    #expect(day.steps[0].hasSuffix("looked at 2 times"))
    #expect(
      Array(day.steps.dropFirst()) == [
        "layer event: what comes up is more than a day away (ahead 1 d 1 h)",
        """
        layer event: what may come up is not certain enough (confidence 0.6); less certain because a word beside the \
        time was not understood, and no verb says that it is ahead
        """,
        "layer pattern: the user was active too recently (inactive 1 d, inactive needed 2 d)",
        "layer pattern: no pattern is known",
      ])
  }

  @Test(
    "tells who wrote, and what became of the model",
    arguments: [
      (
        "skipped", "reply_quotes_user", #"{"by": "model", "failure": "reply_quotes_user"}"#,
        ["the model: The model's text repeated the user's own words."]
      ),
      (
        "committed", nil, #"{"by": "template", "failure": "model_timed_out"}"#,
        ["the model: The language model did not answer in time.", "written by the template"]
      ),
      (
        "skipped", "model_declined", #"{"by": "model", "failure": "model_declined", "refusal": "habit"}"#,
        ["the model: The language model declined to write.", "its reason: the event is a habit"]
      ),
      ("committed", nil, #"{"by": "template"}"#, ["written by the template"]),
      ("skipped", "no_template", #"{"by": "template", "failure": "no_template"}"#, ["No template could be filled."]),
    ] as [(String, String?, String, [String])])
  func writers(decision: String, reason: String?, writing: String, expected: [String]) throws {
    let day = try Self.day(decision, reason, inputs: #"{"writing": \#(writing)}"#)
    #expect(Array(day.steps.dropFirst()) == expected)
  }

  @Test("tells of a push that is queued, held, or was kept back on its way, and of a day that is not decided")
  func others() throws {
    let days = [
      try Self.day("committed"), try Self.day("committed", push: Self.push("held")),
      try Self.day("committed", push: Self.push("skipped", "quiet_hours")), try Self.day(nil),
      try Self.day("failed", "material_failed"),
    ]
    #expect(
      days.map(\.summary) == [
        "A push is queued.", "A push was queued and is held.", "A push was queued and is skipped (quiet_hours).",
        "Nothing is decided yet.",
        "Nothing was sent. The host's function for the user's material failed; the service's log has the error.",
      ])
  }

  @Test(
    "tells of a slot on a day",
    arguments: [
      ("scheduled", nil, 0, nil, "It is scheduled."), ("armed", nil, 1, nil, "A device shows it without a push."),
      ("armed", nil, 2, nil, "2 devices show it without a push."), ("sent", nil, 0, "sent", "A push was sent."),
      ("opened", nil, 0, "sent", "A push was sent. It was shown."),
      ("cancelled", "switched_off", 0, nil, "It was cancelled. The user has switched the slot off, or moved it."),
      ("cancelled", "cancelled", 0, "skipped", "A push was queued and is skipped."),
      ("skipped", "content_missing", 0, nil, "Nothing was sent. The host's content was never fetched."),
    ] as [(String, String?, Int, String?, String)])
  func slots(status: String, reason: String?, armedBy: Int, decision: String?, summary: String) throws {
    let row = SlotRowFacts(
      slot: "0800", localDay: "2026-09-21", timeZone: "Europe/Berlin", fireAt: Self.noon, renderedAt: Self.noon,
      status: status, reason: reason, title: "Good morning", armedBy: armedBy, attempts: 2,
      push: try decision.map { try Self.push($0) })
    #expect(row.summary == summary)
    let time = "2026-09-21T14:13:20.000Z"
    #expect(row.steps.prefix(3) == ["rendered \(time) for \(time)", "“Good morning”", "claimed 2 times"])
    let story = CampaignStory(now: Self.noon, slots: [], rows: [row])
    let text = CampaignExplanation(story, campaign: "coach", userID: Self.user).text
    #expect(text.contains("\n2026-09-21 0800 (Europe/Berlin): \(summary)\n  rendered "))
  }

  @Test("tells of no day that nobody looked, and of no campaign that there is none")
  func empty() {
    let idle = Self.explanation([])
    #expect(idle.summary == "Now nothing would keep a push back. The campaign looks once on each day.")
    #expect(idle.text.hasSuffix("On none of the days that are kept has the campaign looked at the user.\n"))
    let unknown = Self.explanation([], isKnown: false)
    #expect(!unknown.isKnown && unknown.text == "campaign coach, user \(Self.user)\nThere is no campaign coach.\n")
  }

  @Test("as JSON it has every fact, and null members are left out")
  func json() throws {
    let sent = try Self.day("committed", inputs: #"{"writing": {"by": "model"}}"#, tokens: 700, push: Self.push())
    let explanation = Self.explanation([sent, try Self.day(nil)], standing: "pushed_today")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(explanation.json)) as? [String: any Sendable])
    #expect(Set(object.keys) == ["campaign", "user_id", "known", "summary", "standing", "days"])
    let days = try #require(object["days"] as? [[String: any Sendable]])
    let always: Set = [
      "local_day", "time_zone", "summary", "due_at", "run_id", "steps", "inputs", "input_tokens", "output_tokens",
      "cost_microdollars",
    ]
    #expect(Set(days[0].keys) == always.union(["decision", "decided_at", "push"]))
    #expect(Set(days[1].keys) == always)
    #expect(days[0]["decided_at"] as? String == "2026-09-21T14:13:21.500Z")
    #expect(days[0]["run_id"] as? String == Self.run && days[0]["cost_microdollars"] as? Int == 1400)
    let push = try #require(days[0]["push"] as? [String: any Sendable])
    #expect(Set(push.keys) == ["push_log_id", "push_type", "decision", "content", "opened", "sent_at"])
    #expect(push["push_log_id"] as? String == Self.log && push["opened"] as? Bool == false)
  }
}
