import CampaignRules
import Foundation
import Testing

@Suite("The layer of an occasion")
struct OccasionLayerTests {
  private let material = CampaignMaterial(moment: Date(timeIntervalSince1970: 1_800_000_000))

  @Test("always finds, whatever is known of the user")
  func finds() throws {
    let settings = LayerSettings(occasion: OccasionLayer(occasion: "evening reflection"))
    let evaluation = LayerEvaluation(of: material, layers: [.occasion], settings: settings)
    let finding = try #require(evaluation.finding)
    #expect(finding.pushType == .occasion)
    #expect(finding.templateValues == ["theme": "evening reflection"])
    #expect(finding.metadata.themes == ["evening reflection"])
    #expect(CheckInPrompt(for: finding, in: material).material.contains("theme: evening reflection"))
  }

  @Test("comes last where the user gives a reason, and says so where it has none")
  func order() {
    let evaluation = LayerEvaluation(of: material, layers: [.event, .occasion])
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .noOccasion])
  }
}
