/// How a coach should address a user, in four dimensions.
struct CoachingStyle: Equatable {
  /// A dimension, by its name in the host's document.
  enum Dimension: String, CaseIterable, CodingKey {
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

extension CoachingStyle: Decodable {
  /// A dimension that is not a number is unknown, also a number in a string.
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Dimension.self)
    var values: [Dimension: Double] = [:]
    for dimension in Dimension.allCases { values[dimension] = try? members.decode(Double.self, forKey: dimension) }
    self.init(values)
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

extension CoachingPreferences: Decodable {
  private enum Key: String, CodingKey { case domainStyles = "domain_styles" }

  /// Reads the profile's `coaching_preferences`. The styles of `domain_styles` come first. Then comes the style of the
  /// whole object. If it has none, its other members are styles by domain.
  ///
  /// ```json
  /// {"domain_styles": {"work": {"direct_vs_exploratory": 0.2, "brief_vs_detailed": 0.5}},
  ///  "direct_vs_exploratory": 0.4, "action_vs_reflective": 0.9, "challenging_vs_supportive": 1}
  /// ```
  ///
  /// The host's app wrote the document. An entry that is not an object is ignored.
  /// - Throws: for a document that is not an object.
  init(from decoder: any Decoder) throws {
    typealias Styles = [String: Lenient<CoachingStyle>]
    general = try CoachingStyle(from: decoder)
    if general == .unknown {
      domains = Self.known(try Styles(from: decoder))
      domains[Key.domainStyles.rawValue] = nil
    }
    let named = try? decoder.container(keyedBy: Key.self).decode(Styles.self, forKey: .domainStyles)
    domains.merge(Self.known(named ?? [:])) { $1 }
  }

  private static func known(_ styles: [String: Lenient<CoachingStyle>]) -> [String: CoachingStyle] {
    let read = styles.sorted { $0.key < $1.key }.prefix(domainsMax)
    return Dictionary(uniqueKeysWithValues: read.map { ($0.key, $0.value.value ?? .unknown) })
      .filter { $0.value != .unknown }
  }
}
