import Testing

@testable import Campaigns

private let twoDays = Duration.seconds(172_800)

private func outcome(_ patterns: [RecognizedPattern], away: Duration? = twoDays) -> LayerOutcome {
  PatternLayer().outcome(for: Sample.away(away, patterns: patterns))
}

@Suite("The layer of patterns")
struct PatternLayerTests {
  @Test(
    "the user has been away for two days, exactly two included",
    arguments: [
      (Duration.zero, LayerRule?.some(.recentlyActive)), (twoDays - .microseconds(1), .recentlyActive),
      (.seconds(-5), .recentlyActive), (twoDays, nil), (twoDays * 100, nil),
    ])
  func inactivity(away: Duration, missing: LayerRule?) {
    #expect(outcome([Sample.pattern()], away: away).note?.rule == missing)
  }

  @Test("who never wrote has not been away")
  func neverActive() {
    #expect(outcome([Sample.pattern()], away: nil).note?.rule == .neverActive)
  }

  @Test(
    "a pattern holds until the third session", arguments: [(-1, false), (0, true), (2, true), (3, false), (9, false)])
  func sessions(sessionsSince: Int, isHit: Bool) {
    let outcome = outcome([Sample.pattern(sessionsSince: sessionsSince)])
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .patternExpired)
  }

  @Test(
    "a pattern counts from a confidence of 0.7", arguments: [(0.7, true), (0.69999, false), (.nan, false), (1, true)])
  func confidence(confidence: Double, isHit: Bool) {
    let outcome = outcome([Sample.pattern(confidence: confidence)])
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .patternConfidenceLow)
  }

  @Test("a pattern without a visible name is none", arguments: ["", "  \n", "\u{200B}\u{202E}"])
  func nameless(theme: String) {
    #expect(outcome([Sample.pattern(theme)]).note?.rule == .noValidPattern)
    #expect(outcome([]).note?.rule == .noValidPattern)
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
      #expect(outcome(left).finding?.metadata.themes == [order[start]])
      #expect(outcome(left.reversed()).finding?.metadata.themes == [order[start]])
    }
  }

  @Test(
    "without its sources the layer is passed over",
    arguments: [
      (MaterialSource.patterns, LayerRule?.some(.patternSourceMissing)), (.messages, .messageSourceMissing),
      (.conversations, nil), (.profile, nil),
    ])
  func missing(source: MaterialSource, rule: LayerRule?) {
    let material = Sample.away(twoDays, patterns: [Sample.pattern()], missing: [source])
    #expect(PatternLayer().outcome(for: material).note?.rule == rule)
  }
}
