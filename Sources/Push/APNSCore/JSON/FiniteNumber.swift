/// A number that JSON can write: neither infinite nor NaN.
///
/// A `null` in the place of a number makes a device drop a whole Live Activity update, while APNs answers 200.
public struct FiniteNumber: Equatable, Sendable {
  /// The number.
  public let value: Double

  /// Takes any finite number.
  /// - Throws: `numberNotFinite`.
  public init(_ value: Double) throws(PushRequestError) {
    guard value.isFinite else { throw PushRequestError(.numberNotFinite, "JSON has no infinities and no NaN") }
    self.value = value
  }
}

extension FiniteNumber: ExpressibleByFloatLiteral {
  /// A number written in the source; traps on one too large for a `Double`, of which the compiler only warns.
  public init(floatLiteral value: Double) {
    precondition(value.isFinite, "a number in the source is too large for a Double")
    self.value = value
  }
}
