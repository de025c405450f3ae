import Foundation
import TemporalReferences
import Testing

@testable import Campaigns

/// Makes values of slots of which a test names only what matters to it.
enum SlotSample {
  static func occasion(
    _ slot: String = "0800", phase: String? = "morning", on day: String = "2026-03-11", localTime: String? = nil
  ) throws -> SlotOccasion {
    SlotOccasion(
      campaign: "ritual", slot: try #require(SlotTime(slot)), phase: phase, fireDate: try #require(CivilDay(day)),
      localTime: localTime)
  }

  /// A definition with one text; other keys are replaced or added.
  static func json(
    slots: String = #"[{"slot":"0800"}]"#, texts: String = #"[{"title":"Hi","body":"You"}]"#, more: String = ""
  ) -> String {
    #"{"slots":\#(slots),"texts":\#(texts)\#(more)}"#
  }

  static func definition(title: String, body: String = "b", more: String = "") throws -> SlotCampaignDefinition {
    try SlotCampaignDefinition(json: json(texts: #"[{"title":"\#(title)","body":"\#(body)"}]"#, more: more))
  }

  static func values(_ json: String) throws -> SlotValues { try #require(SlotValues(json: json)) }

  static func ritual() throws -> SlotCampaignDefinition {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Definitions/ritual.json")
    return try SlotCampaignDefinition(json: String(contentsOf: file, encoding: .utf8))
  }
}
