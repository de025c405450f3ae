/// What becomes of one recipient's push now.
public enum PushDecision: Equatable, Sendable {
  /// It goes out at once.
  case send
  /// It waits at most this long, always more than zero, and is decided again: then, or when something new is learnt.
  case hold(for: Duration, reason: DecisionReason)
  /// It is never sent.
  case skip(reason: DecisionReason)
}
