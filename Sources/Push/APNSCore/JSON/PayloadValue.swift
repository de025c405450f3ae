/// A JSON value of the app's own data: beside `aps`, or in the attributes and the state of a Live Activity.
public enum PayloadValue: Equatable, Sendable {
  /// Text, written as UTF-8.
  case string(String)
  /// A whole number, written in decimal digits.
  case integer(Int64)
  /// A number, written in the shortest form that reads back the same.
  case number(FiniteNumber)
  /// `true` or `false`.
  case boolean(Bool)
  /// `null`.
  case null
  /// Values in their order.
  case array([PayloadValue])
  /// Members in their order.
  case object(PayloadObject)
}

extension PayloadValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
