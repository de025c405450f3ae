package import FoundationEssentials
package import HTTP1
internal import HTTPTypes

package enum ControlAnswer {
  package static func json(_ value: some Encodable) throws -> HTTPServerResponse {
    HTTPServerResponse(json: try sortedJSON(value))
  }

  package static let done = HTTPServerResponse(status: .noContent)
}

/// JSON with the members in alphabetical order, so that equal values are equal texts.
package func sortedJSON(
  _ value: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys
) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = keys
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return Array(try encoder.encode(value))
}

extension ProblemDetails {
  /// 400; `detail` explains the mistake to the author of the request.
  package static func unfit(_ detail: String) -> ProblemDetails {
    ProblemDetails(.badRequest, detail: detail)
  }

  /// 503: a limit is reached.
  package static func full(_ detail: String) -> ProblemDetails {
    ProblemDetails(.serviceUnavailable, detail: detail)
  }
}

extension HTTPServerRequest {
  /// A query parameter that is a whole number from 0; nil when absent.
  /// - Throws: `ProblemDetails` with 400 for another value.
  package func queryNumber(_ name: String) throws(ProblemDetails) -> Int? {
    guard let text = head.queryValue(name) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ProblemDetails.unfit("\(name) is a whole number from 0")
    }
    return number
  }
}
