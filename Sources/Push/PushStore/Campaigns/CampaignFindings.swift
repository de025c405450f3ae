/// What is recorded of a decision, beside the push.
public struct CampaignFindings: Equatable, Sendable {
  /// The layer that had something to say; nil when none had.
  public var layer: String?
  /// What the rules were given, as a JSON object without any text of anybody.
  public var inputs: String
  /// What it cost.
  public var usage: CampaignUsage

  /// Joins them.
  public init(layer: String? = nil, inputs: String = "{}", usage: CampaignUsage = CampaignUsage()) {
    self.layer = layer
    self.inputs = inputs
    self.usage = usage
  }
}

/// What a language model has used.
public struct CampaignUsage: Equatable, Sendable {
  /// Tokens it has read.
  public var inputTokens = 0
  /// Tokens it has written.
  public var outputTokens = 0
  /// Millionths of a dollar.
  public var costMicrodollars = 0

  /// Nothing.
  public init() {}
}
