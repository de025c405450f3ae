/// Looks for the highest rate that is kept up with: up by a quarter until one is not, then between the two.
struct RateSearch: Sendable, Equatable {
  private static let step = 1.25

  private var bisections = 3
  private var highestKept: Double?
  private var lowestMissed: Double?
  private let start: Double

  init(from start: Double) { self.start = start }

  /// The rate to try, in whole messages per second; nil when the search is over. When the first is not kept up with, it
  /// goes down until one is; below one message a second there is nothing to look for.
  var next: Double? {
    let rate: Double? =
      switch (highestKept, lowestMissed) {
      case (nil, nil): start
      case (let kept?, nil): kept * Self.step
      case (nil, let missed?): missed / Self.step
      case (let kept?, let missed?): bisections > 0 ? (kept + missed) / 2 : nil
      }
    return rate.map { $0.rounded() }.flatMap { $0 >= 1 && $0 != highestKept && $0 != lowestMissed ? $0 : nil }
  }

  /// - Parameter isKept: whether the rate was kept up with.
  mutating func note(_ rate: Double, isKept: Bool) {
    if highestKept != nil, lowestMissed != nil { bisections -= 1 }
    if isKept { highestKept = rate } else { lowestMissed = rate }
  }
}
