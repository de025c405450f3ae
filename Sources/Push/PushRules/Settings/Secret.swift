/// A value that does not show itself, also where another value contains it: printed, interpolated, dumped or reflected, it is
/// `<redacted>`.
///
/// It protects against accidents, not against code that asks: the value is in memory like any other.
package protocol Undisclosed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Undisclosed {
  package var description: String { "<redacted>" }

  package var debugDescription: String { description }

  /// A mirror without children, so that `dump` and test failures show nothing.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

package struct Secret<Value: Sendable>: Sendable, Undisclosed {
  /// The value itself; the one place where it comes out.
  package let exposed: Value

  package init(_ value: Value) { exposed = value }
}

extension Secret: Equatable where Value: Equatable {}

extension Secret: Hashable where Value: Hashable {}
