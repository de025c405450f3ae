/// How much a push may interrupt: the value of `interruption-level`.
public enum InterruptionLevel: String, CaseIterable, Sendable {
  /// Goes to the list without light or sound.
  case passive
  /// Lights the screen and may play a sound; what a push without a level does.
  case active
  /// As active, and breaks through Focus and the scheduled summary.
  case timeSensitive = "time-sensitive"
  /// Breaks through the mute switch as well; only for apps with Apple's permission.
  case critical
}
