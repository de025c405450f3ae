/// The words of one push.
public struct CampaignText: Equatable, Hashable, Sendable {
  /// The first line.
  public let title: String
  /// The text.
  public let body: String

  /// A text, as it is.
  public init(title: String, body: String) {
    self.title = title
    self.body = body
  }
}
