package import HTTPServing

/// How large the numbers of scripts may be: larger than any use of them, and small enough for every sum.
package enum ControlLimits {
  /// A day.
  package static let millisecondsMax = 86_400_000
  /// A year.
  package static let secondsMax = 31_536_000
  /// A century, in either direction.
  package static let clockMillisecondsMax: Int64 = 3_155_760_000_000
  /// Requests, connections, streams.
  package static let countMax = 1_000_000_000

  /// - Throws: `ProblemDetails` that names the number and its range; an absent number passes.
  package static func check(
    _ name: String, _ number: Int?, from lowest: Int = 0, to highest: Int = millisecondsMax
  ) throws(ProblemDetails) {
    guard let number, !(lowest...highest).contains(number) else { return }
    throw ProblemDetails.unfit("\(name) is a number from \(lowest) to \(highest)")
  }
}
