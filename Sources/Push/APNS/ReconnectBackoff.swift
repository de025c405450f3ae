/// The wait before the next connect: none after a connection that worked, then one second doubling to sixty.
///
/// APNs takes rapid connecting for an attack and refuses the address for a while.
struct ReconnectBackoff {
  private static let base = Duration.seconds(1)
  private static let ceiling = Duration.seconds(60)

  /// Failures after which the wait has reached its ceiling.
  private static let failuresAtCeiling = 7

  private var failures = 0

  mutating func succeeded() { failures = 0 }

  mutating func failed() { failures += 1 }

  /// The credential was refused: trying again soon only repeats it.
  mutating func refused() { failures = max(failures, Self.failuresAtCeiling) }

  /// - Parameter draw: a random number in `0 ..< 1`; the wait is taken from the upper half, so that replicas spread out.
  func wait(draw: Double) -> Duration {
    guard failures > 0 else { return .zero }
    return min(Self.base * (1 << min(failures - 1, 10)), Self.ceiling) * (0.5 + draw / 2)
  }
}
