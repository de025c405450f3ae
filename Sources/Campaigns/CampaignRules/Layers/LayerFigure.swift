/// What a number in a layer's note measures. Raw values are its key in the database.
public enum LayerFigure: String, CaseIterable, Sendable {
  /// How many events or patterns were looked at.
  case count
  /// The greatest confidence among them, in 0...1.
  case confidence
  /// The least confidence that is enough, in 0...1.
  case confidenceNeeded = "confidence_needed"
  /// Seconds until the nearest event begins.
  case aheadSeconds = "ahead_seconds"
  /// The furthest that an event may lie ahead, in seconds.
  case aheadSecondsMax = "ahead_seconds_max"
  /// Seconds since the user was last active.
  case inactiveSeconds = "inactive_seconds"
  /// How long the user has to be away, in seconds.
  case inactiveSecondsNeeded = "inactive_seconds_needed"
  /// The fewest sessions since one of the patterns.
  case sessions
  /// The number of sessions at which a pattern ends.
  case sessionsEnd = "sessions_end"
}
