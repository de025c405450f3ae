/// A moment of the wall clock, in microseconds since 1970.
public struct WallInstant: Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public var microseconds: Int64

  /// A moment from microseconds since 1970.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// A moment from whole seconds since 1970.
  public init(seconds: Int64) {
    microseconds = seconds * 1_000_000
  }

  /// Whole seconds since 1970, rounded down.
  public var seconds: Int64 { microseconds / 1_000_000 }

  /// Whole milliseconds since 1970, rounded down.
  public var milliseconds: Int64 { microseconds / 1000 }

  /// Orders by time.
  public static func < (one: WallInstant, other: WallInstant) -> Bool {
    one.microseconds < other.microseconds
  }
}
