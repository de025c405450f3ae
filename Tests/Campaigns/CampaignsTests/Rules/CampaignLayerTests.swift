import Foundation
import FoundationEssentials
import PushRules
import TemporalReferences
import Testing

@testable import Campaigns

private let everything = CampaignMaterial(
  moment: noon, inactiveFor: .seconds(500_000), happenings: [Sample.happening(Sample.span(hour))],
  patterns: [Sample.pattern()], lastConversation: LastConversation(domain: "home", texts: ["secret garden plans"]))

extension CampaignLayer {
  /// The layers that look at the user.
  static let ofUser: [CampaignLayer] = [.event, .pattern, .reengagement]
}

private func json(_ document: PayloadObject) -> String { String(decoding: document.encoded(), as: UTF8.self) }

@Suite("The order of layers")
struct LayerEvaluationTests {
  @Test("the first layer of the campaign's order that hits wins", arguments: CampaignLayer.ofUser.map(\.name))
  func first(name: String) throws {
    let layer = try #require(CampaignLayer.all.first { $0.name == name })
    let others = CampaignLayer.ofUser.filter { $0 != layer }
    let evaluation = LayerEvaluation(of: everything, layers: [layer] + others)
    #expect(evaluation.finding?.layer == layer)
    #expect(evaluation.notes.isEmpty)
  }

  @Test("layers that found nothing say why, in order, up to the one that hit")
  func notes() {
    var material = everything
    material.happenings = []
    material.missingSources = [.patterns]
    let evaluation = LayerEvaluation(of: material, layers: CampaignLayer.ofUser)
    #expect(evaluation.finding?.layer == .reengagement)
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .patternSourceMissing])
  }

  @Test("of somebody of whom nothing is known every layer says why it is silent")
  func nothing() {
    let evaluation = LayerEvaluation(of: CampaignMaterial(moment: noon), layers: CampaignLayer.ofUser)
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.layer) == CampaignLayer.ofUser.map(\.name))
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .neverActive, .neverActive])
  }

  @Test("without messages nothing at all is sent")
  func noMessages() {
    var material = everything
    material.missingSources = [.messages]
    let evaluation = LayerEvaluation(of: material, layers: CampaignLayer.ofUser)
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.rule) == Array(repeating: .messageSourceMissing, count: 3))
  }

  @Test("every layer and every rule has one name, and every rule a meaning")
  func names() {
    #expect(Set(CampaignLayer.all.map(\.name)).count == CampaignLayer.all.count)
    #expect(LayerRule.meanings.count == 3 + CampaignLayer.all.map(\.rules.count).reduce(0, +))
    #expect(LayerRule.meanings["event_over"] == "what was coming up is over")
  }

  @Test("a note is stored as one flat object of words and numbers")
  func noteDocument() {
    let note = LayerNote(
      layer: "pattern", rule: .recentlyActive, figures: ["inactive_seconds": 60, "count": .infinity])
    #expect(json(note.document) == #"{"layer":"pattern","rule":"recently_active","inactive_seconds":60}"#)
  }

  @Test(
    "the log gets names and numbers, and no sentence of anybody",
    arguments: [
      (
        "event",
        #"{"layer":"event","themes":[],"domains":["home"],"event":"presentation","grain":"instant","confidence":0.9}"#
      ),
      ("pattern", #"{"layer":"pattern","themes":["fear of speaking"],"domains":["work"],"confidence":0.9}"#),
      ("re_engagement", #"{"layer":"re_engagement","themes":[],"domains":["home"]}"#),
    ])
  func metadata(name: String, expected: String) throws {
    let layer = try #require(CampaignLayer.all.first { $0.name == name })
    let finding = try #require(LayerEvaluation(of: everything, layers: [layer]).finding)
    #expect(json(finding.document()) == expected)
  }

  @Test("names are logged on one line and cut")
  func longNames() throws {
    let pattern = Sample.pattern(
      "a\nb" + String(repeating: "c", count: 500),
      domains: Array(repeating: String(repeating: "d", count: 99), count: 99))
    let material = Sample.away(.seconds(200_000), patterns: [pattern])
    let finding = try #require(CampaignLayer.pattern.outcome(material).finding)
    #expect(finding.found == ["theme": "a b" + String(repeating: "c", count: 77)])
    #expect(finding.domains == Array(repeating: String(repeating: "d", count: 40), count: 8))
  }

  @Test("texts get what the log may hold and when it is, never the topic")
  func templateValues() {
    func values(_ layer: CampaignLayer) -> [String: String]? {
      LayerEvaluation(of: everything, layers: [layer]).finding?.values
    }
    #expect(
      values(.event)
        == ["push_type": "event_based", "event": "presentation", "when": "this afternoon", "domain": "home"])
    #expect(values(.pattern) == ["push_type": "pattern_based", "theme": "fear of speaking", "domain": "work"])
    #expect(values(.reengagement) == ["push_type": "re_engagement", "domain": "home"])
  }
}

@Suite("The layer of an occasion")
struct OccasionLayerTests {
  private var material = CampaignMaterial(moment: Date(timeIntervalSince1970: 1_800_000_000))

  @Test("always finds, whatever is known of the user")
  func finds() throws {
    var material = material
    material.subject = "evening reflection"
    let evaluation = LayerEvaluation(of: material, layers: [.occasion])
    let finding = try #require(evaluation.finding)
    #expect(finding.layer.pushType == "occasion")
    #expect(finding.values == ["push_type": "occasion", "theme": "evening reflection"])
    #expect(finding.found == ["theme": "evening reflection"])
    #expect(ModelPrompt(for: finding, in: material).material.contains("theme: evening reflection"))
  }

  @Test("comes last where the user gives a reason, and says so where it has none")
  func order() {
    let evaluation = LayerEvaluation(of: material, layers: [.event, .occasion])
    #expect(evaluation.finding == nil)
    #expect(evaluation.notes.map(\.rule) == [.noUpcomingEvent, .noOccasion])
  }
}

@Suite("The layer of patterns")
struct PatternLayerTests {
  private static let twoDays = Duration.seconds(172_800)

  private static func outcome(_ patterns: [RecognizedPattern], away: Duration? = Self.twoDays) -> LayerOutcome {
    CampaignLayer.pattern.outcome(Sample.away(away, patterns: patterns))
  }

  @Test(
    "the user has been away for two days, exactly two included",
    arguments: [
      (Duration.zero, LayerRule?.some(.recentlyActive)), (Self.twoDays - .microseconds(1), .recentlyActive),
      (.seconds(-5), .recentlyActive), (Self.twoDays, nil), (Self.twoDays * 100, nil),
    ])
  func inactivity(away: Duration, missing: LayerRule?) {
    #expect(Self.outcome([Sample.pattern()], away: away).note?.rule == missing)
  }

  @Test("who never wrote has not been away")
  func neverActive() {
    #expect(Self.outcome([Sample.pattern()], away: nil).note?.rule == .neverActive)
  }

  @Test(
    "a pattern holds until the third session", arguments: [(-1, false), (0, true), (2, true), (3, false), (9, false)])
  func sessions(sessionsSince: Int, isHit: Bool) {
    let outcome = Self.outcome([Sample.pattern(sessionsSince: sessionsSince)])
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .patternExpired)
  }

  @Test(
    "a pattern counts from a confidence of 0.7", arguments: [(0.7, true), (0.69999, false), (.nan, false), (1, true)])
  func confidence(confidence: Double, isHit: Bool) {
    let outcome = Self.outcome([Sample.pattern(confidence: confidence)])
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .patternConfidenceLow)
  }

  @Test("a pattern without a visible name is none", arguments: ["", "  \n", "\u{200B}\u{202E}"])
  func nameless(theme: String) {
    #expect(Self.outcome([Sample.pattern(theme)]).note?.rule == .noValidPattern)
    #expect(Self.outcome([]).note?.rule == .noValidPattern)
  }

  @Test("the strongest of the valid ones wins, in whatever order they come")
  func strongest() {
    let patterns = [
      Sample.pattern("expired", confidence: 1, sessionsSince: 3),
      Sample.pattern("sure", occurrences: 2, confidence: 0.95),
      Sample.pattern("often", occurrences: 9, confidence: 0.9),
      Sample.pattern("newest", confidence: 0.9, sessionsSince: 0),
      Sample.pattern("b", confidence: 0.9), Sample.pattern("a", confidence: 0.9),
    ]
    let order = ["sure", "often", "newest", "a", "b"]
    for start in order.indices {
      let left = patterns.filter { !order[..<start].contains($0.theme) }
      #expect(Self.outcome(left).finding?.found == ["theme": order[start]])
      #expect(Self.outcome(left.reversed()).finding?.found == ["theme": order[start]])
    }
  }

  @Test(
    "without its sources the layer is passed over",
    arguments: [
      (MaterialSource.patterns, LayerRule?.some(.patternSourceMissing)), (.messages, .messageSourceMissing),
      (.conversations, nil),
    ])
  func missing(source: MaterialSource, rule: LayerRule?) {
    let material = Sample.away(Self.twoDays, patterns: [Sample.pattern()], missing: [source])
    #expect(CampaignLayer.pattern.outcome(material).note?.rule == rule)
  }
}

@Suite("The layer of coming back")
struct ReengagementLayerTests {
  private static let threeDays = Duration.seconds(259_200)

  private static func outcome(_ texts: [String]?, away: Duration? = Self.threeDays, domain: String? = "work")
    -> LayerOutcome
  {
    let conversation = texts.map { LastConversation(domain: domain, texts: $0) }
    return CampaignLayer.reengagement.outcome(Sample.away(away, conversation: conversation))
  }

  private static func topic(_ texts: [String]) -> String? {
    Self.outcome(texts).finding?.topic
  }

  @Test(
    "the user has been away for three days, exactly three included",
    arguments: [
      (Duration?.none, LayerRule?.some(.neverActive)), (.zero, .recentlyActive),
      (Self.threeDays - .microseconds(1), .recentlyActive), (Self.threeDays, nil), (Self.threeDays * 50, nil),
    ])
  func inactivity(away: Duration?, missing: LayerRule?) {
    #expect(Self.outcome(["moving house"], away: away).note?.rule == missing)
  }

  @Test("there has to be something to take up; a domain alone is not enough, and not needed")
  func topics() {
    #expect(Self.outcome(nil).note?.rule == .noConversation)
    #expect(Self.outcome([]).note?.rule == .noTopic)
    #expect(Self.outcome([" ", "\n", "\u{200B}"]).note?.rule == .noTopic)
    #expect(Self.outcome(["moving house"], domain: nil).finding?.domain == nil)
    #expect(Self.outcome(["moving house"], domain: " ").finding?.domain == nil)
    #expect(Self.outcome(["moving house"]).finding?.domain == "work")
  }

  @Test("the last three messages with words are told in reading order")
  func order() {
    #expect(Self.topic(["four", "", "three", " ", "two", "one"]) == "two / three / four")
  }

  @Test("a topic has at most fifty tokens", arguments: [(49, 49), (50, 50), (51, 50), (100_000, 50)])
  func tokens(words: Int, kept: Int) {
    let text = Array(repeating: "abc", count: words).joined(separator: " ")
    #expect(Self.topic([text])?.split(separator: " ").count == kept)
  }

  @Test(
    "a word costs a token for every three bytes",
    arguments: [("abc", 50), ("abcd", 25), ("演", 50), ("né", 50), ("née!", 25)])
  func wordCost(word: String, kept: Int) {
    let text = Array(repeating: word, count: 60).joined(separator: " ")
    #expect(Self.topic([text])?.split(separator: " ").count == kept)
  }

  @Test("the newest message is paid first, and parting two costs a token")
  func newestFirst() {
    let newest = Array(repeating: "new", count: 48).joined(separator: " ")
    #expect(Self.topic([newest, "old older"]) == "old / " + newest)
    #expect(Self.topic([newest + " new", "old"]) == newest + " new")
    #expect(Self.topic([newest + " new new", "old"]) == newest + " new new")
  }

  @Test("a single endless word is cut", arguments: [149, 150, 151, 1_000_000])
  func endlessWord(bytes: Int) {
    #expect(Self.topic([String(repeating: "a", count: bytes)])?.utf8.count == min(bytes, 150))
  }

  @Test("no cluster is torn, and an endless one is left out")
  func clusters() {
    let family = "👨‍👩‍👧‍👦"
    #expect(
      Self.topic([String(repeating: family, count: 10_000)])
        == String(repeating: family, count: 150 / family.utf8.count))
    #expect(Self.topic(["a" + String(repeating: "\u{301}", count: 500_000)]) == nil)
  }

  @Test(
    "without its sources the layer is passed over",
    arguments: [
      (MaterialSource.conversations, LayerRule?.some(.conversationSourceMissing)), (.messages, .messageSourceMissing),
      (.patterns, nil),
    ])
  func missing(source: MaterialSource, rule: LayerRule?) {
    let conversation = LastConversation(domain: nil, texts: ["moving house"])
    let material = Sample.away(Self.threeDays, conversation: conversation, missing: [source])
    #expect(CampaignLayer.reengagement.outcome(material).note?.rule == rule)
  }
}

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
    standing: TemporalStanding = .upcoming
  ) -> Happening {
    Happening(
      event: event, span: span, confidence: confidence, writtenAt: noon.addingTimeInterval(-age), standing: standing)
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
    if case .miss(let rule, let figures, let doubts) = self {
      LayerNote(layer: "", rule: rule, figures: figures, doubts: doubts)
    } else {
      nil
    }
  }
}
