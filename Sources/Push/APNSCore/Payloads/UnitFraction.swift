/// A number from 0 to 1, both included: how loud, how relevant.
public struct UnitFraction: Equatable, Sendable {
  /// The number.
  public let value: Double

  /// Takes a number from 0 to 1.
  /// - Throws: `fractionOutOfRange`, also for NaN.
  public init(_ value: Double) throws(PushRequestError) {
    guard (0...1).contains(value) else { throw PushRequestError(.fractionOutOfRange, "\(value) is not within 0...1") }
    self.value = value
  }

  private init(checked value: Double) { self.value = value }

  /// 0.
  public static let zero = UnitFraction(checked: 0)
  /// 1.
  public static let one = UnitFraction(checked: 1)
}
