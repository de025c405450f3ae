/// How a coach should address a user, in four dimensions.
///
/// Each value is in 0...1, from the end named first to the end named second; nil is unknown.
struct CoachingStyle: Equatable {
  /// 0 direct, 1 exploratory.
  let directExploratory: Double?
  /// 0 brief, 1 detailed.
  let briefDetailed: Double?
  /// 0 action, 1 reflective.
  let actionReflective: Double?
  /// 0 challenging, 1 supportive.
  let challengingSupportive: Double?

  static let unknown = CoachingStyle()

  /// A style. A value outside 0...1, or NaN, counts as unknown: it uses another scale.
  init(
    directExploratory: Double? = nil,
    briefDetailed: Double? = nil,
    actionReflective: Double? = nil,
    challengingSupportive: Double? = nil
  ) {
    self.directExploratory = directExploratory.flatMap(Self.onScale)
    self.briefDetailed = briefDetailed.flatMap(Self.onScale)
    self.actionReflective = actionReflective.flatMap(Self.onScale)
    self.challengingSupportive = challengingSupportive.flatMap(Self.onScale)
  }

  /// The instructions for a language model, one line of at most 400 characters.
  ///
  /// Warmth always comes first: a challenge still comes from a coach. Dimensions in the middle are left out. When all
  /// are, the style is the default: warm, supportive, balanced.
  var instructions: String {
    let leanings = [
      Self.sentence(directExploratory, "Be direct: name things plainly.", "Be exploratory: wonder together."),
      Self.sentence(briefDetailed, "Be brief: a few words are enough.", "Be detailed: give it some context."),
      Self.sentence(actionReflective, "Lean towards a small next step.", "Lean towards reflection."),
      Self.sentence(challengingSupportive, "Challenge gently.", "Be especially supportive."),
    ].compactMap(\.self)
    return leanings.isEmpty ? "Be warm, supportive and balanced." : (["Be warm."] + leanings).joined(separator: " ")
  }

  private static func onScale(_ value: Double) -> Double? {
    (0...1).contains(value) ? value : nil
  }

  private static func sentence(_ value: Double?, _ first: String, _ second: String) -> String? {
    switch value {
    case .some(...firstMax): first
    case .some(secondMin...): second
    default: nil
    }
  }

  /// The greatest value that leans to the first end, inclusive.
  private static let firstMax = 0.35
  /// The least value that leans to the second end, inclusive. The three tenths between are a slider near its centre.
  private static let secondMin = 0.65
}

/// A user's styles: one for each domain, and one for all others.
struct CoachingPreferences: Equatable {
  /// The most domains that are read; further ones are ignored.
  private static let domainsMax = 64

  /// By domain; never ``CoachingStyle/unknown``.
  let domains: [String: CoachingStyle]
  let general: CoachingStyle

  init(domains: [String: CoachingStyle] = [:], general: CoachingStyle = .unknown) {
    self.domains = domains.filter { $0.value != .unknown }
    self.general = general
  }

  /// Reads the profile's `coaching_preferences`. The styles of `domain_styles` come first. Then comes the style of the
  /// whole object. If it has none, its other members are styles by domain.
  ///
  /// ```json
  /// {"domain_styles": {"work": {"direct_vs_exploratory": 0.2, "brief_vs_detailed": 0.5}},
  ///  "direct_vs_exploratory": 0.4, "action_vs_reflective": 0.9, "challenging_vs_supportive": 1}
  /// ```
  ///
  /// The host's app wrote the document, so nothing is refused. A value that is not a number in 0...1 is unknown, also a
  /// number in a string. An entry that is not an object is ignored, and so is a document that is not an object.
  init(_ document: JSONValue?) {
    guard case .object(let members) = document else {
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

  func style(in domain: String?) -> CoachingStyle { domain.flatMap { domains[$0] } ?? general }

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
