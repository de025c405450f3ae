/// What one layer says of a user.
public enum LayerOutcome: Equatable, Sendable {
  /// There is a reason to write.
  case hit(LayerFinding)
  /// There is none, for this reason.
  case miss(LayerNote)
}
