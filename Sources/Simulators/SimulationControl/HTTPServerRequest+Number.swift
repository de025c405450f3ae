internal import HTTP1
package import HTTPServing

extension HTTPServerRequest {
  /// A query parameter that is a whole number from 0.
  /// - Returns: nil when it is absent.
  /// - Throws: `ProblemDetails` with 400 when it is something else.
  package func queryNumber(_ name: String) throws(ProblemDetails) -> Int? {
    guard let text = head.queryValue(name) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ProblemDetails.unfit("\(name) is a whole number from 0")
    }
    return number
  }
}
