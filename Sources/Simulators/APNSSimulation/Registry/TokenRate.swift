/// How many pushes one device takes: so many in so many seconds, however they are spread in them.
public struct TokenRate: Codable, Equatable, Sendable {
  /// Pushes, from 1.
  public var pushes: Int
  /// Seconds of the simulated clock, from 1.
  public var seconds: Int

  /// A rate; numbers below 1 count as 1.
  public init(pushes: Int, seconds: Int) {
    self.pushes = max(1, pushes)
    self.seconds = max(1, seconds)
  }
}

/// Counts the pushes of each device against a rate.
///
/// The generic cell rate algorithm (ITU-T I.371): one moment for each device, the one up to which its pushes are paid for.
/// A refused push is not counted.
struct TokenRateMeter {
  /// Devices remembered before those that owe nothing are forgotten.
  private static let devicesMax = 100_000

  private var paidUntil: [String: Int64] = [:]

  /// Whether a device takes a push now.
  mutating func admits(_ token: String, _ rate: TokenRate, now: WallInstant) -> Bool {
    let window = Int64(rate.seconds) * 1_000_000
    let cost = window / Int64(rate.pushes)
    let paid = max(paidUntil[token] ?? 0, now.microseconds)
    guard paid - now.microseconds <= window - cost else { return false }
    paidUntil[token] = paid + cost
    if paidUntil.count > Self.devicesMax { paidUntil = paidUntil.filter { $0.value > now.microseconds } }
    return true
  }
}
