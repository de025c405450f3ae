/// Whether the pushes of a route go.
public enum BreakerState: String, CaseIterable, Sendable {
  /// They go.
  case closed
  /// They wait in the database.
  case open
  /// They wait, and one is on its way to find out whether the others may go.
  case probing
}
