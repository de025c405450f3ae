/// Something that the host has seen to return in a user's conversations.
public struct RecognizedPattern: Equatable, Sendable {
  /// Its name, such as `fear of speaking`; the only part of it that may be logged, beside the domains.
  public var theme: String
  /// How often it was seen.
  public var occurrences: Int
  /// Where it was seen, as the host names the parts of life, the most telling first; may be empty.
  public var domains: [String]
  /// How sure the host is, in 0...1. What is not a number counts as 0.
  public let confidence: Double
  /// What the host made of it, in prose; material of the prompt, never logged.
  public var synthesis: String
  /// Sessions that the user has held since the pattern was recognised, from 0.
  public var sessionsSince: Int

  /// A pattern; a confidence outside 0...1 is moved to the nearer end.
  public init(
    theme: String, occurrences: Int, domains: [String], confidence: Double, synthesis: String, sessionsSince: Int
  ) {
    self.theme = theme
    self.occurrences = occurrences
    self.domains = domains
    self.confidence = confidence.asProportion
    self.synthesis = synthesis
    self.sessionsSince = sessionsSince
  }
}

extension Double {
  /// Itself within 0...1, and 0 for what is not a number: what nobody can weigh weighs nothing.
  var asProportion: Double {
    isNaN ? 0 : Swift.min(1, Swift.max(0, self))
  }
}
