import FoundationEssentials

@testable import Campaigns

/// Noon of a Wednesday, UTC.
let noon = Date(timeIntervalSince1970: 1_772_625_600)
let hour = 3_600.0
let day = 86_400.0

/// Makes values of which a test names only what matters to it.
enum Sample {
  static func span(_ ahead: Double, lasting length: Double = 0, isDayOnly: Bool = false) -> EventSpan {
    let start = noon.addingTimeInterval(ahead)
    return EventSpan(start: start, end: start.addingTimeInterval(length), isDayOnly: isDayOnly)
  }

  static func happening(
    _ span: EventSpan?, of event: String = "presentation", confidence: Double = 0.9, age: Double = day,
    standing: Happening.Standing = .upcoming, domain: String? = nil
  ) -> Happening {
    Happening(
      event: event, span: span, confidence: confidence, writtenAt: noon.addingTimeInterval(-age), standing: standing,
      domain: domain)
  }

  static func pattern(
    _ theme: String = "fear of speaking", occurrences: Int = 4, domains: [String] = ["work"], confidence: Double = 0.9,
    sessionsSince: Int = 1
  ) -> RecognizedPattern {
    RecognizedPattern(
      theme: theme, occurrences: occurrences, domains: domains, confidence: confidence,
      synthesis: "Freezes when seniors watch.", sessionsSince: sessionsSince)
  }

  static func events(_ happenings: [Happening]) -> CampaignMaterial {
    CampaignMaterial(moment: noon, inactiveFor: .seconds(60), happenings: happenings)
  }

  static func away(
    _ inactive: Duration?, patterns: [RecognizedPattern] = [], conversation: LastConversation? = nil,
    missing: Set<MaterialSource> = []
  ) -> CampaignMaterial {
    CampaignMaterial(
      moment: noon, inactiveFor: inactive, patterns: patterns, lastConversation: conversation, missingSources: missing)
  }
}

extension LayerOutcome {
  var finding: LayerFinding? {
    if case .hit(let finding) = self { finding } else { nil }
  }

  var note: LayerNote? {
    if case .miss(let note) = self { note } else { nil }
  }
}
