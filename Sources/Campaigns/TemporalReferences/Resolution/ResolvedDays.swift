/// The days that a day expression is.
struct ResolvedDays: Equatable {
  /// At least one day.
  let days: Range<CivilDay>
  let grain: TemporalGrain

  init(_ days: Range<CivilDay>, _ grain: TemporalGrain) {
    self.days = days
    self.grain = grain
  }

  /// Some days from one on.
  init(_ first: CivilDay, count: Int = 1, _ grain: TemporalGrain = .day) {
    self.init(first..<first + count, grain)
  }
}
