/// Who writes a campaign's pushes.
public enum CampaignComposer: Equatable, Sendable {
  /// What happens when the language model fails, is too late, or breaks a rule. Raw values are those of definitions.
  public enum Failure: String, CaseIterable, Sendable {
    /// Nothing is sent: better silence than a text for anybody.
    case skip
    /// A template is sent.
    case template
  }

  /// A language model.
  case model(failure: Failure)
  /// The campaign's templates.
  case template

  /// Whether it can come to a template.
  public var usesTemplates: Bool {
    self != .model(failure: .skip)
  }
}
