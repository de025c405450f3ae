public import FoundationEssentials

/// What the user's clock shows around the moment of a run, without a database of time zones.
///
/// The offset of the moment and the next change of it are enough, because layers look no further than a day ahead and
/// no zone changes its offset twice within a day.
public struct LocalTime: Equatable, Sendable {
  /// A change of the offset, such as the beginning of daylight saving time.
  public struct Change: Equatable, Sendable {
    /// The first instant of the new offset.
    public var instant: Date
    /// The new offset, east of UTC, in seconds.
    public var secondsFromUTC: Int

    /// A change.
    public init(at instant: Date, to secondsFromUTC: Int) {
      self.instant = instant
      self.secondsFromUTC = secondsFromUTC
    }
  }

  /// For users whose zone is unknown.
  public static let utc = LocalTime(secondsFromUTC: 0)

  /// The offset at the moment of the run, east of UTC, in seconds.
  public var secondsFromUTC: Int
  /// The first change after the moment; nil when there is none within the next two days.
  public var change: Change?

  /// A local time.
  public init(secondsFromUTC: Int, change: Change? = nil) {
    self.secondsFromUTC = secondsFromUTC
    self.change = change
  }

  /// The civil day of an instant: days since 1970-01-01, negative before.
  public func day(of instant: Date) -> Int {
    Int((localSeconds(of: instant) / 86_400).rounded(.down))
  }

  /// The hour of an instant on the user's clock, in 0...23.
  public func hour(of instant: Date) -> Int {
    let seconds = localSeconds(of: instant) - Double(day(of: instant)) * 86_400
    return min(23, Int(seconds / 3_600))
  }

  private func localSeconds(of instant: Date) -> Double {
    let offset = change.map { instant >= $0.instant ? $0.secondsFromUTC : secondsFromUTC } ?? secondsFromUTC
    return instant.timeIntervalSince1970 + Double(offset)
  }
}
