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
