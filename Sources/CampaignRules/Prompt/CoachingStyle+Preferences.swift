extension CoachingStyle {
  /// The most domains that are read, more than any life has; what is beyond them is left out.
  private static let domainsMax = 64

  /// Reads the profile's `coaching_preferences`: an object of styles, keyed by domain.
  ///
  /// ```json
  /// {"work": {"direct_vs_exploratory": 0.2, "brief_vs_detailed": 0.5,
  ///           "action_vs_reflective": 0.9, "challenging_vs_supportive": 1}}
  /// ```
  ///
  /// The host's app wrote it and this is only its reader, so nothing is refused: a value that is no number in 0...1 is
  /// unknown, an entry that is no object is left out, and a document that is no object gives no styles at all. A number
  /// in a string counts as no number.
  public static func styles(fromPreferences json: String) -> [String: CoachingStyle] {
    guard case .object(let domains) = JSONValue(json) else { return [:] }
    var styles: [String: CoachingStyle] = [:]
    for (domain, value) in domains.sorted(by: { $0.key < $1.key }).prefix(domainsMax) {
      if case .object(let dimensions) = value { styles[domain] = CoachingStyle(dimensions) }
    }
    return styles
  }

  private init(_ dimensions: [String: JSONValue]) {
    func value(_ key: String) -> Double? {
      if case .number(let value) = dimensions[key] { return value }
      return nil
    }
    self.init(
      directExploratory: value("direct_vs_exploratory"),
      briefDetailed: value("brief_vs_detailed"),
      actionReflective: value("action_vs_reflective"),
      challengingSupportive: value("challenging_vs_supportive"))
  }
}
