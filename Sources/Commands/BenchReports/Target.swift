/// What a measurement is to show.
public struct Target: Sendable, Equatable {
  /// In words.
  public let what: String
  /// What is judged.
  public let quantity: Quantity
  /// What its median must keep.
  public let bound: Bound
  /// Of the bound; empty for a ratio.
  public let unit: String

  /// A target.
  public init(_ what: String, _ quantity: Quantity, _ bound: Bound, _ unit: String = "") {
    self.what = what
    self.quantity = quantity
    self.bound = bound
    self.unit = unit
  }

  /// Such as `<= 3.5 ms`.
  var text: String { unit.isEmpty ? bound.text : "\(bound.text) \(unit)" }
}
