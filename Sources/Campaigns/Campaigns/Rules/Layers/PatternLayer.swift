/// A pattern that the host has recognised in the user's conversations, of a user who has been away.
extension CampaignLayer {
  static let pattern = CampaignLayer(
    name: "pattern", pushType: "pattern_based",
    rules: [.patternSourceMissing, .noValidPattern, .patternExpired, .patternConfidenceLow],
    outcome: PatternSearch.outcome)
}

extension LayerRule {
  static let patternSourceMissing = LayerRule("pattern_source_missing", "the host has no patterns")
  static let noValidPattern = LayerRule("no_valid_pattern", "no pattern is known")
  static let patternExpired = LayerRule("pattern_expired", "the patterns are older than three sessions")
  static let patternConfidenceLow = LayerRule("pattern_confidence_low", "no pattern is certain enough")
}

private enum PatternSearch {
  /// The least time since the user was last active; inclusive.
  static let inactiveMin = Duration.seconds(2 * 86_400)
  /// The number of sessions after which a pattern expires; exclusive. The product's "valid for 3 sessions" is read as
  /// valid until the third session has been held.
  static let sessionsEnd = 3
  /// The least confidence; inclusive. The product gives none for patterns. It is that of events, because a wrong statement about a
  /// person is no better than a question about the wrong day.
  static let confidenceMin = 0.7
  /// The most logged domains of one pattern.
  static let domainsMax = 8

  /// The strongest valid pattern: the one with the highest confidence, then the most occurrences, then the latest.
  ///
  /// A pattern without a name is ignored, and one with a negative number of sessions counts as expired.
  static func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.patterns) { return .miss(.patternSourceMissing) }
    if let miss = material.activityMiss(needed: inactiveMin) { return miss }
    let named = material.patterns.filter { TextLimits.theme($0.theme) != nil }
    guard let fewest = named.map(\.sessionsSince).min() else { return .miss(.noValidPattern) }
    let valid = named.filter { (0..<sessionsEnd).contains($0.sessionsSince) }
    guard let best = valid.min(by: { rank($0) < rank($1) }) else {
      return .miss(
        .patternExpired,
        ["count": Double(named.count), "sessions": Double(fewest), "sessions_end": Double(sessionsEnd)])
    }
    guard best.confidence >= confidenceMin else {
      return .miss(
        .patternConfidenceLow,
        ["count": Double(valid.count), "confidence": best.confidence, "confidence_needed": confidenceMin])
    }
    var finding = LayerFinding(
      .pattern, domain: best.domains.first, found: ["theme": best.theme], topic: best.synthesis)
    finding.domains = best.domains.prefix(domainsMax).compactMap(TextLimits.domain)
    finding.confidence = best.confidence
    return .hit(finding)
  }

  /// The lower, the stronger; the name only makes the result deterministic.
  private static func rank(_ pattern: RecognizedPattern) -> (Double, Double, Int, String) {
    (-pattern.confidence, -Double(pattern.occurrences), pattern.sessionsSince, pattern.theme)
  }
}
