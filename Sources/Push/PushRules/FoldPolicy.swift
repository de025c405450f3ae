/// How long a burst of messages to one recipient in one conversation lasts, and how often its notification changes.
///
/// `tacet.fold_messages` keeps the bursts in `tacet.bursts`.
package struct FoldPolicy: Equatable, Sendable {
  /// How often a notification changes at most: half of a usual burst's messages come within a second of another.
  package static let settleDefault = Duration.seconds(1)

  /// From a sound on, how long nothing but a mention sounds; the end is exclusive.
  package let window: Duration

  package let settle: Duration

  /// A policy; both are positive.
  package init(window: Duration, settle: Duration = settleDefault) {
    precondition(window > .zero && settle > .zero, "without a window nothing folds")
    self.window = window
    self.settle = settle
  }
}

/// What a message does that may be pushed.
package enum FoldDecision: Equatable, Sendable {
  /// It goes with its sound, by its own collapse identifier.
  case sound
  /// It replaces the burst's notification without a sound.
  case update
  /// It is decided again at this time.
  case wait(until: Int64)
  /// A newer message is shown, which counts it.
  case fold
}
