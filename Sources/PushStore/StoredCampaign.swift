/// A campaign as the database has it.
public struct StoredCampaign: Equatable, Sendable {
  /// Its name.
  public let name: String
  /// What it is, as JSON.
  public let definition: String
  /// Whether users' hours make it run; otherwise only requests do.
  public let isScheduled: Bool
}
