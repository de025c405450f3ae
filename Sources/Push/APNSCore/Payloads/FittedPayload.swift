/// A payload that fits a byte limit, and what was done to make it fit.
public struct FittedPayload<Payload: PushPayload>: Equatable, Sendable {
  /// The payload, its text possibly shortened.
  public let payload: Payload
  /// The text that was shortened; nil when the payload fitted as it was.
  public let trimmed: TrimmedText?
  /// The size of the document before, in bytes.
  public let bytesBefore: Int
  /// The size of the document now, in bytes.
  public let bytesAfter: Int

  /// Whether a text was shortened.
  public var isTrimmed: Bool { trimmed != nil }
}

/// A text that may be shortened to make a push fit.
public enum TrimmedText: Equatable, Sendable {
  /// The words of the body.
  case body
  /// One of the arguments of a localised body, counted from 0.
  case bodyArgument(Int)
}
