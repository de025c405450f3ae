internal import APNSCore

/// When a push that could not be handed over is tried again.
public struct RetryPolicy: Sendable {
  /// The first wait. A reconnect takes less, and the collapse identifier makes an early resend harmless.
  public var base = Duration.seconds(1)

  /// Where the doubling ends: Apple's own wait after a fault of the service. A push that has met one ten times, while
  /// others pass, has come to it.
  public var ceiling = PushDisposition.serviceFaultWait

  /// The defaults.
  public init() {}

  /// The wait before the next try: the longer of `base` and what APNs asks for, doubled for each earlier retry up to
  /// `ceiling`, and then drawn from a half around it, so that many pushes that failed together do not come back together.
  /// The half lies below when nobody has asked for a wait, and above when APNs has.
  /// - Parameters:
  ///   - retries: how often this push was put off before, from 0.
  ///   - minimum: what the answer asks for.
  ///   - draw: a random number in `0 ..< 1`.
  public func wait(afterRetries retries: Int, minimum: Duration, draw: Double) -> Duration {
    let doublings = min(max(retries, 0), 30)
    let whole = min(max(base, minimum) * (1 << doublings), max(ceiling, minimum))
    return (minimum > .zero ? whole : whole / 2) + whole * (draw / 2)
  }
}
