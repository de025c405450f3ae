/// When a push that could not be handed over is tried again.
public struct RetryPolicy: Sendable {
  /// The first wait. A reconnect takes less, and the collapse identifier makes an early resend harmless.
  public var base = Duration.seconds(1)

  /// The longest wait between two tries.
  public var ceiling = Duration.seconds(300)

  /// The defaults.
  public init() {}

  /// The wait before the next try: `base · 2^(attempts − 1)`, at most `ceiling`, then a draw from its upper half, so that
  /// many pushes that failed together do not come back together; never less than APNs asks for.
  /// - Parameters:
  ///   - attempts: tries already made, from 1.
  ///   - minimum: what the answer asks for.
  ///   - draw: a random number in `0 ..< 1`.
  public func wait(afterAttempts attempts: Int, minimum: Duration, draw: Double) -> Duration {
    let doublings = min(max(attempts - 1, 0), 30)
    let exponential = min(base * (1 << doublings), ceiling)
    return max(minimum, exponential * (0.5 + draw / 2))
  }
}
