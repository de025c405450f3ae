/// A value that does not show itself: printed, interpolated, dumped or reflected, it is `<redacted>`.
///
/// It protects against accidents, not against code that asks: the value is in memory like any other.
public struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The value itself; the one place where it comes out.
  public let exposed: Value

  /// Hides a value.
  public init(_ value: Value) { exposed = value }

  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children, so that `dump` and test failures show nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable where Value: Equatable {}

extension Secret: Hashable where Value: Hashable {}
