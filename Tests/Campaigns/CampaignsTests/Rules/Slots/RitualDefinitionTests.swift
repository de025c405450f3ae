import PushRules
import TemporalReferences
import Testing

@testable import Campaigns

private let groups = [
  ("cold", "Low Flame", "warmth"), ("warm", "High Flame", "calm"), ("neutral", "Steady Flame", "balance"),
]

private func profile(
  _ group: String = "cold", _ nickname: String = "Low Flame", _ principle: String = "warmth", streak: Int = 0
) throws -> CampaignValues {
  try SlotSample.values(
    """
    {"group": "\(group)", "nickname": "\(nickname)", "principle": "\(principle)", "streak": \(streak),
     "is_onboarded": true}
    """)
}

private func occasion(_ phase: String, on day: Int) throws -> Occasion {
  try SlotSample.occasion(
    phase == "morning" ? "0800" : "2000", phase: phase, on: CivilDay(number: day + 20_453).description)
}

@Suite("The ritual")
struct SlotCampaignRitualTests {
  @Test("body and data name the action of the day")
  func body() throws {
    // Day 70, the 11th of March, is divisible by 7.
    let text = try SlotSample.ritual().words(for: occasion("morning", on: 70), values: profile())
    #expect(text?.words.body == "Drink a glass of warm water (10 sec)")
    #expect(
      text?.words.data
        == #"{"action":"open_do","fire_date":"2026-03-11","micro_action":0,"phase":"morning","slot":"0800"}"#)
  }

  @Test(
    "before onboarding there is a placeholder without an action of the day",
    arguments: [
      ("morning", "{}", "Good morning"), ("evening", "{}", "Good evening"),
      ("morning", #"{"is_onboarded":false,"streak":9}"#, "Good morning"),
      ("evening", #"{"is_onboarded":false,"group":"cold","nickname":"Low Flame"}"#, "Good evening"),
      ("morning", #"{"is_onboarded":null}"#, "Good morning"),
    ])
  func onboarding(phase: String, material: String, title: String) throws {
    let ritual = try SlotSample.ritual()
    let text = try ritual.words(for: occasion(phase, on: 70), values: SlotSample.values(material))
    #expect(text?.words.title == title)
    #expect(text?.words.body == "Your daily routine is ready.")
    #expect(text?.missing == 0)
    #expect(text?.words.data.contains("micro_action") == false)
  }

  @Test("all 42 actions appear in any 7 days", arguments: [-3, 0, 1, 70, 360, 727, 787])
  func allActions(first: Int) throws {
    let ritual = try SlotSample.ritual()
    var bodies: Set<String> = []
    for day in first..<(first + 7) {
      for phase in ["morning", "evening"] {
        for (group, nickname, principle) in groups {
          let values = try profile(group, nickname, principle)
          bodies.insert(try #require(ritual.words(for: occasion(phase, on: day), values: values)).words.body)
        }
      }
    }
    #expect(bodies.count == 42)
  }

  @Test("no action repeats within 7 days over New Year and leap days", arguments: ["morning", "evening"])
  func newYears(phase: String) throws {
    let ritual = try SlotSample.ritual()
    for start in ["2025-12-20", "2026-12-20", "2027-12-20", "2028-02-20", "2028-12-20"] {
      let first = try #require(CivilDay(start)).dayNumber
      let texts = try (first..<(first + 28)).map {
        try #require(ritual.words(for: occasion(phase, on: $0), values: profile()))
      }
      for end in 7...texts.count {
        #expect(Set(texts[(end - 7)..<end].map(\.words.body)).count == 7)
      }
    }
  }

  @Test("a slot without a known phase has no text")
  func noPhase() throws {
    let ritual = try SlotSample.ritual()
    #expect(try ritual.words(for: SlotSample.occasion(phase: nil), values: profile()) == nil)
    #expect(try ritual.words(for: SlotSample.occasion(phase: "noon"), values: profile()) == nil)
  }
}
