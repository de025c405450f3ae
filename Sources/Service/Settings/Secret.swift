/// A value that does not show itself: printed, interpolated, dumped or reflected, it is `<redacted>`.
///
/// It protects against accidents, not against code that asks: the value is in memory like any other.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The value itself; the one place where it comes out.
  package let exposed: Value

  package init(_ value: Value) { exposed = value }

  package var description: String { "<redacted>" }

  package var debugDescription: String { description }

  /// A mirror without children, so that `dump` and test failures show nothing.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable where Value: Equatable {}

extension Secret: Hashable where Value: Hashable {}
