public import FoundationEssentials

/// What a campaign wants to tell a user.
public struct CampaignPush: Equatable, Sendable {
  /// The kind that ledger and payload name.
  public var pushType: String
  /// The first line.
  public var title: String
  /// The text.
  public var body: String
  /// The payload's own members, as a JSON object.
  public var data: String
  /// What the ledger keeps beside the words, as a JSON object; nothing personal.
  public var metadata: String

  /// Describes one.
  public init(pushType: String, title: String, body: String, data: String, metadata: String) {
    self.pushType = pushType
    self.title = title
    self.body = body
    self.data = data
    self.metadata = metadata
  }
}

/// What became of a push that was written.
public enum CampaignCommit: Equatable, Sendable {
  /// It is queued, under this id.
  case committed(UUID)
  /// Something keeps it back by now.
  case refused(String)
}

/// A decision that sends nothing.
public enum CampaignRefusal: String, Equatable, Sendable {
  /// There was nothing to send, or a rule was against it.
  case skipped
  /// Something that should have worked did not.
  case failed
}
