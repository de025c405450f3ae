import Foundation
import PushStore
import Testing

@testable import Operations

@Suite("What a campaign decided, in words")
struct CampaignExplanationTextTests {
  /// A story as the database tells it, of one day.
  private static func explanation(
    decision: String = "null", reason: String = "null", inputs: String = "{}", push: String = "null"
  ) throws -> CampaignExplanation {
    let document = """
      {"isKnown": true, "now": 1795341600000000, "days": [{
        "localDay": "2026-11-22", "timeZone": "Europe/Vienna", "attempts": 1,
        "runID": "2f1d7c1a-6a2e-4a63-8f0e-0c1b2a3d4e5f", "dueAt": 1795341600000000, "enrolledAt": 1795341604000000,
        "decision": \(decision), "reason": \(reason), "inputs": \(inputs), "inputTokens": 0, "outputTokens": 0,
        "costMicrodollars": 0, "push": \(push)}]}
      """
    let story = try JSONDecoder().decode(CampaignStory.self, from: Data(document.utf8))
    return CampaignExplanation(story, campaign: "coach", userID: "3e1c2f60-8e0f-4f0a-b1a5-0d3a4b5c6d7e")
  }

  @Test("numbers are told as people write them, seconds as lengths of time, and empty lists not at all")
  func figures() throws {
    let inputs = """
      {"notes": [{"layer": "pattern", "rule": "recently_active", "inactive_seconds": 86404.98,
                  "inactive_seconds_needed": 172800}],
       "finding": {"layer": "event", "confidence": 0.9, "domains": ["work", "home"], "themes": []}}
      """
    let day = try #require(
      try Self.explanation(decision: #""skipped""#, reason: #""nothing_to_say""#, inputs: inputs).days.first)
    #expect(day.summary == "Nothing was sent. No layer found anything to say.")
    #expect(
      day.steps.dropFirst() == [
        "layer pattern: the user was active too recently (inactive 1 d, inactive needed 2 d)",
        "layer event: found confidence 0.9, domains work and home",
      ])
  }

  @Test("a push is told with its words and what became of it")
  func push() throws {
    let push = """
      {"logID": "019aa5e0-3c41-8d27-9b1e-5a6c7d8e9f01", "pushType": "event_based", "decision": "sent",
       "content": "Your exam is today\\nHow do you feel?", "opened": true, "sentAt": 1795341606000000}
      """
    let explanation = try Self.explanation(
      decision: #""committed""#, inputs: #"{"writing": {"by": "model"}}"#, push: push)
    let day = try #require(explanation.days.first)
    #expect(day.summary == "A push was sent.")
    #expect(day.steps.dropFirst().first == "written by the model")
    #expect(day.steps.contains("“Your exam is today”") && day.steps.last == "opened by the user")
    #expect(explanation.summary == "Now nothing would keep a push back. The campaign looks once on each day.")
  }

  @Test("what is not decided is said to be so")
  func undecided() throws {
    #expect(try Self.explanation().days.map(\.summary) == ["Nothing is decided yet."])
  }
}
