/// How far a run has come. Times are microseconds since 1970.
public struct CampaignRunStatus: Equatable, Sendable, Codable {
  /// The campaign's name.
  public var campaign: String
  /// Users it noted.
  public var enrolled: Int
  /// When it began.
  public var startedAt: Int64
  /// Users of whom nothing is decided.
  public var undecided: Int
  /// Users for whom a push was queued.
  public var committed: Int
  /// Users for whom there was nothing to send.
  public var skipped: Int
  /// Users for whom something did not work.
  public var failed: Int
  /// How many were skipped or failed for each reason.
  public var reasons: [String: Int]
  /// Tokens that language models read.
  public var inputTokens: Int
  /// Tokens that they wrote.
  public var outputTokens: Int
  /// What that cost, in millionths of a dollar.
  public var costMicrodollars: Int
  /// When the newest decision was made; nil when there is none.
  public var finishedAt: Int64?
}
