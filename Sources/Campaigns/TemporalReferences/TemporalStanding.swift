/// What a text says of whether the thing it dates will happen to its writer.
public enum TemporalStanding: String, Equatable, Sendable {
  /// It lies ahead or is going on.
  case upcoming
  /// It was over when the message was written, or is told as over.
  case past
  /// It was called off, denied, or moved to another time.
  case cancelled
  /// It is wished, supposed, asked or only possible, or the time is one of several.
  case hypothetical
  /// It is somebody else's.
  case anothers
}
