import Foundation
import FoundationEssentials
import Testing

@testable import Campaigns

private let everything = CampaignMaterial(
  moment: noon, inactiveFor: .seconds(500_000), happenings: [Sample.happening(Sample.span(hour))],
  patterns: [Sample.pattern()], lastConversation: LastConversation(domain: "home", texts: ["secret garden plans"]))

private func json(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

@Suite("The order of layers")
struct LayerEvaluationTests {
  @Test("the first layer of the campaign's order that hits wins", arguments: CampaignLayer.ofUser)
  func first(layer: CampaignLayer) {
    let others = CampaignLayer.ofUser.filter { $0 != layer }
    let evaluation = LayerEvaluation(of: everything, layers: [layer] + others)
    #expect(evaluation.finding?.layer == layer)
    #expect(evaluation.finding?.pushType == layer.pushType)
    #expect(evaluation.notes.isEmpty)
  }

  @Test("layers that found nothing say why, in order, up to the one that hit")
  func notes() {
    var material = everything
    material.happenings = []
    material.missingSources = [.patterns]
    let evaluation = LayerEvaluation(of: material)
    #expect(evaluation.finding?.layer == .reengagement)
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .patternSourceMissing])
  }

  @Test("of somebody of whom nothing is known every layer says why it is silent")
  func nothing() {
    let evaluation = LayerEvaluation(of: CampaignMaterial(moment: noon))
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.layer) == CampaignLayer.ofUser)
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .neverActive, .neverActive])
  }

  @Test("without messages nothing at all is sent")
  func noMessages() {
    var material = everything
    material.missingSources = [.messages]
    let evaluation = LayerEvaluation(of: material)
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.rule) == Array(repeating: .messageSourceMissing, count: 3))
  }

  @Test("a campaign without layers finds nothing")
  func noLayers() {
    #expect(
      LayerEvaluation(of: everything, layers: []) == LayerEvaluation(of: CampaignMaterial(moment: noon), layers: []))
  }

  @Test("a layer's settings are its own")
  func settings() {
    let settings = LayerSettings(event: EventLayer(confidenceMin: 0.95), pattern: PatternLayer(sessionsEnd: 1))
    let evaluation = LayerEvaluation(of: everything, settings: settings)
    #expect(evaluation.notes.map(\.rule) == [.eventConfidenceLow, .patternExpired])
  }

  @Test("a note is stored as one flat object of words and numbers")
  func noteDocument() throws {
    let note = LayerNote(layer: .pattern, rule: .recentlyActive, figures: [.inactiveSeconds: 60, .count: .infinity])
    #expect(try json(note) == #"{"inactive_seconds":60,"layer":"pattern","rule":"recently_active"}"#)
  }

  @Test(
    "the log gets names and numbers, and no sentence of anybody",
    arguments: [
      (
        CampaignLayer.event,
        #"{"confidence":0.9,"domains":["home"],"event":"presentation","grain":"instant","layer":"event","themes":[]}"#
      ),
      (.pattern, #"{"confidence":0.9,"domains":["work"],"layer":"pattern","themes":["fear of speaking"]}"#),
      (.reengagement, #"{"domains":["home"],"layer":"re_engagement","themes":[]}"#),
    ])
  func metadata(layer: CampaignLayer, expected: String) throws {
    let finding = try #require(LayerEvaluation(of: everything, layers: [layer]).finding)
    #expect(try json(finding.metadata) == expected)
  }

  @Test("names are logged on one line and cut")
  func longNames() throws {
    let pattern = Sample.pattern(
      "a\nb" + String(repeating: "c", count: 500),
      domains: Array(repeating: String(repeating: "d", count: 99), count: 99))
    let material = Sample.away(.seconds(200_000), patterns: [pattern])
    let metadata = try #require(PatternLayer().outcome(for: material).finding?.metadata)
    #expect(metadata.themes == ["a b" + String(repeating: "c", count: 77)])
    #expect(metadata.domains == Array(repeating: String(repeating: "d", count: 40), count: 8))
  }

  @Test("templates get what the log may hold and when it is, never the topic")
  func templateValues() {
    func values(_ layer: CampaignLayer) -> [String: String]? {
      LayerEvaluation(of: everything, layers: [layer]).finding?.templateValues
    }
    #expect(values(.event) == ["event": "presentation", "when": "this afternoon", "domain": "home"])
    #expect(values(.pattern) == ["theme": "fear of speaking", "domain": "work"])
    #expect(values(.reengagement) == ["domain": "home"])
  }
}

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
