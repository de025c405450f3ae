public import FoundationEssentials

/// One message that the user wrote.
public struct WrittenMessage: Equatable, Sendable {
  /// The user's own words, of any length; they never leave the material except as fenced data of a prompt.
  public var text: String
  /// When it was written, by the database's clock.
  public var writtenAt: Date

  /// A message.
  public init(text: String, writtenAt: Date) {
    self.text = text
    self.writtenAt = writtenAt
  }
}
