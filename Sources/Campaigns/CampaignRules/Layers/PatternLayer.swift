/// The layer for something that returns in a user's conversations.
public struct PatternLayer: Equatable, Sendable {
  /// The least time since the user was last active; inclusive. Default 2 days.
  public var inactiveMin: Duration
  /// The number of sessions at which a pattern ends. "Valid for 3 sessions" is read as: through the sessions 1, 2 and until
  /// the third has been held, so 0, 1 and 2 sessions since are valid and 3 are not. Default 3.
  public var sessionsEnd: Int
  /// The least confidence; inclusive. The product names none for patterns. The default is the 0.7 of events, because
  /// telling people something about themselves that is not so is no better than asking about the wrong day.
  public var confidenceMin: Double

  /// A layer; the defaults are the product's.
  public init(inactiveMin: Duration = .seconds(172_800), sessionsEnd: Int = 3, confidenceMin: Double = 0.7) {
    self.inactiveMin = inactiveMin
    self.sessionsEnd = sessionsEnd
    self.confidenceMin = confidenceMin
  }

  /// The strongest valid pattern: the surest, then the one seen most often, then the latest.
  ///
  /// A pattern without a name counts as none, and one with a negative number of sessions as expired.
  public func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.patterns) { return miss(.patternSourceMissing) }
    if let note = InactivityGate(layer: .pattern, needed: inactiveMin).note(for: material) { return .miss(note) }
    let named = material.patterns.filter { TextLimits.theme($0.theme) != nil }
    let valid = named.filter { $0.sessionsSince >= 0 && $0.sessionsSince < sessionsEnd }
    let sure = valid.filter { $0.confidence >= confidenceMin }
    guard let best = sure.min(by: isStronger) else { return miss(named: named, valid: valid) }
    return .hit(LayerFinding(layer: .pattern, domain: best.domains.first, subject: .pattern(best)))
  }

  private func isStronger(_ one: RecognizedPattern, than other: RecognizedPattern) -> Bool {
    if one.confidence != other.confidence { return one.confidence > other.confidence }
    if one.occurrences != other.occurrences { return one.occurrences > other.occurrences }
    // The name last, only so that the same material always gives the same finding.
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
