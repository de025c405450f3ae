struct PatternLayer: Equatable {
  /// The least time since the user was last active; inclusive. Default 2 days.
  var inactiveMin = Duration.seconds(172_800)
  /// The number of sessions after which a pattern expires; exclusive. The product's "valid for 3 sessions" is read as
  /// valid until the third session has been held. Default 3.
  var sessionsEnd = 3
  /// The least confidence; inclusive. The product gives none for patterns. The default is the 0.7 of events, because a
  /// wrong statement about a person is no better than a question about the wrong day.
  var confidenceMin = 0.7

  /// The strongest valid pattern: the one with the highest confidence, then the most occurrences, then the latest.
  ///
  /// A pattern without a name is ignored, and one with a negative number of sessions counts as expired.
  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.patterns) { return miss(.patternSourceMissing) }
    if let note = material.activityNote(for: .pattern, needed: inactiveMin) { return .miss(note) }
    let named = material.patterns.filter { TextLimits.theme($0.theme) != nil }
    let valid = named.filter { $0.sessionsSince >= 0 && $0.sessionsSince < sessionsEnd }
    let sure = valid.filter { $0.confidence >= confidenceMin }
    guard let best = sure.min(by: isStronger) else { return miss(named: named, valid: valid) }
    return .hit(LayerFinding(layer: .pattern, domain: best.domains.first, subject: .pattern(best)))
  }

  private func isStronger(_ one: RecognizedPattern, than other: RecognizedPattern) -> Bool {
    if one.confidence != other.confidence { return one.confidence > other.confidence }
    if one.occurrences != other.occurrences { return one.occurrences > other.occurrences }
    // The name only makes the result deterministic.
    return (one.sessionsSince, one.theme) < (other.sessionsSince, other.theme)
  }

  private func miss(named: [RecognizedPattern], valid: [RecognizedPattern]) -> LayerOutcome {
    if let greatest = valid.map(\.confidence).max() {
      return miss(
        .patternConfidenceLow,
        [.count: Double(valid.count), .confidence: greatest, .confidenceNeeded: confidenceMin])
    }
    guard let fewest = named.map(\.sessionsSince).min() else { return miss(.noValidPattern) }
    return miss(
      .patternExpired,
      [.count: Double(named.count), .sessions: Double(fewest), .sessionsEnd: Double(sessionsEnd)])
  }

  private func miss(_ rule: LayerRule, _ figures: [LayerFigure: Double] = [:]) -> LayerOutcome {
    .miss(LayerNote(layer: .pattern, rule: rule, figures: figures))
  }
}
