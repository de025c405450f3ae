/// How a user wants to be spoken to: a style for everything, and styles for single domains.
public struct CoachingPreferences: Equatable, Sendable {
  /// The most domains that are read, more than any life has; what is beyond them is left out.
  private static let domainsMax = 64

  /// By domain; each says something.
  public let domains: [String: CoachingStyle]
  /// Where the domain has none.
  public let general: CoachingStyle

  /// Preferences; without any, those of a user who said nothing.
  public init(domains: [String: CoachingStyle] = [:], general: CoachingStyle = .unknown) {
    self.domains = domains.filter { $0.value != .unknown }
    self.general = general
  }

  /// Reads the profile's `coaching_preferences`. The styles of `domain_styles` come first. Else the style of the whole
  /// object counts, and where it has none, those of its other members, keyed by domain.
  ///
  /// ```json
  /// {"domain_styles": {"work": {"direct_vs_exploratory": 0.2, "brief_vs_detailed": 0.5}},
  ///  "direct_vs_exploratory": 0.4, "action_vs_reflective": 0.9, "challenging_vs_supportive": 1}
  /// ```
  ///
  /// The host's app wrote it and this is only its reader, so nothing is refused: a value that is no number in 0...1 is
  /// unknown, an entry that is no object is left out, and a document that is no object says nothing. A number in a string
  /// counts as no number.
  public init(json: String) {
    guard case .object(let members) = JSONValue(json) else {
      self.init()
      return
    }
    let general = CoachingStyle(members)
    var domains: [String: CoachingStyle] = general == .unknown ? Self.styles(members) : [:]
    if case .object(let named) = members["domain_styles"] {
      domains["domain_styles"] = nil
      domains.merge(Self.styles(named)) { $1 }
    }
    self.init(domains: domains, general: general)
  }

  /// The style for a domain; nil for none.
  public func style(in domain: String?) -> CoachingStyle { domain.flatMap { domains[$0] } ?? general }

  private static func styles(_ members: [String: JSONValue]) -> [String: CoachingStyle] {
    var styles: [String: CoachingStyle] = [:]
    for (domain, value) in members.sorted(by: { $0.key < $1.key }).prefix(domainsMax) {
      if case .object(let dimensions) = value { styles[domain] = CoachingStyle(dimensions) }
    }
    return styles
  }
}

extension CoachingStyle {
  fileprivate init(_ dimensions: [String: JSONValue]) {
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
