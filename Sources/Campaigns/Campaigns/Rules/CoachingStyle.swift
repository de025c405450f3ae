internal import PushRules

/// How a coach should address a user, in four dimensions.
struct CoachingStyle: Equatable {
  /// A dimension, by its name in the host's document.
  enum Dimension: String, CaseIterable {
    case directExploratory = "direct_vs_exploratory"
    case briefDetailed = "brief_vs_detailed"
    case actionReflective = "action_vs_reflective"
    case challengingSupportive = "challenging_vs_supportive"

    /// What a language model is told for each end.
    var leanings: (first: String, second: String) {
      switch self {
      case .directExploratory: ("Be direct: name things plainly.", "Be exploratory: wonder together.")
      case .briefDetailed: ("Be brief: a few words are enough.", "Be detailed: give it some context.")
      case .actionReflective: ("Lean towards a small next step.", "Lean towards reflection.")
      case .challengingSupportive: ("Challenge gently.", "Be especially supportive.")
      }
    }
  }

  /// In 0...1, from the end named first to the end named second. An absent one is unknown.
  let values: [Dimension: Double]

  static let unknown = CoachingStyle([:])

  /// A value outside 0...1, or NaN, counts as unknown: it uses another scale.
  init(_ values: [Dimension: Double]) { self.values = values.filter { (0...1).contains($0.value) } }

  /// The instructions for a language model, one line of at most 400 characters.
  ///
  /// Warmth always comes first: a challenge still comes from a coach. Dimensions in the middle are left out. When all
  /// are, the style is the default: warm, supportive, balanced.
  var instructions: String {
    let leanings = Dimension.allCases.compactMap { dimension -> String? in
      // The three tenths between are a slider near its centre.
      switch values[dimension] {
      case .some(...0.35): dimension.leanings.first
      case .some(0.65...): dimension.leanings.second
      default: nil
      }
    }
    return leanings.isEmpty ? "Be warm, supportive and balanced." : (["Be warm."] + leanings).joined(separator: " ")
  }
}

extension CoachingStyle {
  /// A dimension that is not a number is unknown, also a number in a string.
  init(_ members: PayloadObject) {
    self.init(
      Dimension.allCases.reduce(into: [:]) { values, dimension in
        values[dimension] = members.number(dimension.rawValue)
      })
  }
}

/// A user's styles: one for each domain, and one for all others.
struct CoachingPreferences: Equatable {
  /// The most domains that are read; further ones are ignored.
  private static let domainsMax = 64

  /// By domain; never ``CoachingStyle/unknown``.
  var domains: [String: CoachingStyle] = [:]
  var general = CoachingStyle.unknown

  func style(in domain: String?) -> CoachingStyle { domain.flatMap { domains[$0] } ?? general }
}

extension CoachingPreferences {
  /// Reads the profile's `coaching_preferences`. The styles of `domain_styles` come first. Then comes the style of the
  /// whole object. If it has none, its other members are styles by domain.
  ///
  /// ```json
  /// {"domain_styles": {"work": {"direct_vs_exploratory": 0.2, "brief_vs_detailed": 0.5}},
  ///  "direct_vs_exploratory": 0.4, "action_vs_reflective": 0.9, "challenging_vs_supportive": 1}
  /// ```
  ///
  /// The host's app wrote the document. An entry that is not an object is ignored.
  init(_ document: PayloadObject) {
    general = CoachingStyle(document)
    let named = "domain_styles"
    if general == .unknown {
      domains = Self.known(document)
      domains[named] = nil
    }
    domains.merge(Self.known(document.object(named) ?? [:])) { $1 }
  }

  private static func known(_ styles: PayloadObject) -> [String: CoachingStyle] {
    styles.members.prefix(domainsMax).reduce(into: [:]) { known, member in
      known[member.key] = member.value.object.map { CoachingStyle($0) }
    }.filter { $0.value != .unknown }
  }
}
