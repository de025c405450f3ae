public import FoundationEssentials

/// What one message says about one event.
///
/// What is only wished or supposed, and what is somebody else's, is no happening.
public struct Happening: Equatable, Sendable {
  /// How the message speaks of the event.
  public enum Standing: Equatable, Sendable {
    /// It is still to come.
    case upcoming
    /// It was called off, or moved to a time that was not named.
    case cancelled
    /// It has taken place.
    case over
  }

  /// The event's canonical word, such as `presentation`; never the user's own text. Two happenings with the same word are
  /// about the same event.
  public var event: String
  /// When it is; nil when the message names no time. Without one an upcoming event says nothing.
  public var span: EventSpan?
  /// How sure the reading is, in 0...1. What is not a number counts as 0.
  public let confidence: Double
  /// When the message was written.
  public var writtenAt: Date
  /// How the message speaks of it.
  public var standing: Standing
  /// The part of life of the message's conversation; nil when unknown.
  public var domain: String?

  /// A happening; a confidence outside 0...1 is moved to the nearer end.
  public init(
    event: String,
    span: EventSpan?,
    confidence: Double,
    writtenAt: Date,
    standing: Standing = .upcoming,
    domain: String? = nil
  ) {
    self.event = event
    self.span = span
    self.confidence = confidence.asProportion
    self.writtenAt = writtenAt
    self.standing = standing
    self.domain = domain
  }
}
