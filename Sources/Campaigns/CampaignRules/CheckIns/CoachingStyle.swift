/// How a user wants to be spoken to, in four dimensions.
///
/// Each value is in 0...1, where 0 is the end named first and 1 the one named second; nil is unknown.
public struct CoachingStyle: Equatable, Sendable {
  /// 0 direct, 1 exploratory.
  public let directExploratory: Double?
  /// 0 brief, 1 detailed.
  public let briefDetailed: Double?
  /// 0 action, 1 reflective.
  public let actionReflective: Double?
  /// 0 challenging, 1 supportive.
  public let challengingSupportive: Double?

  /// The style of a user who said nothing.
  public static let unknown = CoachingStyle()

  /// A style; a value outside 0...1, or one that is not a number, counts as unknown: it was not meant on this scale.
  public init(
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

  /// The sentences that tell a language model of it; always one line of at most 400 characters.
  ///
  /// Warmth comes first whatever the values are: somebody who wants to be challenged still hears from a coach. Dimensions
  /// in the middle are not mentioned, and when all are, the style is the default: warm, supportive, balanced.
  public var instructions: String {
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
    switch StyleBand(value) {
    case .first: first
    case .balanced: nil
    case .second: second
    }
  }
}

/// Which end of a style's dimension a value leans to.
enum StyleBand: Equatable {
  case first, balanced, second

  /// The greatest value that leans to the first end, inclusive.
  static let firstMax = 0.35
  /// The least value that leans to the second end, inclusive. The three tenths between ask for nothing: that is a slider
  /// left near its centre.
  static let secondMin = 0.65

  /// The band of a value in 0...1; balanced when it is unknown.
  init(_ value: Double?) {
    switch value {
    case .some(...Self.firstMax): self = .first
    case .some(Self.secondMin...): self = .second
    default: self = .balanced
    }
  }
}

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
