internal import FoundationEssentials
internal import HTTP1
package import HTTPServing
internal import HTTPTypes

/// What a control endpoint answers.
package enum ControlAnswer {
  /// A JSON answer; members in alphabetical order, so that two answers can be compared as text.
  package static func json(_ value: some Encodable) throws -> HTTPServerResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return HTTPServerResponse(json: Array(try encoder.encode(value)))
  }

  /// What was ordered is done; there is nothing to say.
  package static let done = HTTPServerResponse(status: .noContent)
}

extension ProblemDetails {
  /// The request makes no sense; `detail` says to its author why.
  package static func unfit(_ detail: String) -> ProblemDetails {
    ProblemDetails(.badRequest, detail: detail)
  }

  /// A bound is reached.
  package static func full(_ detail: String) -> ProblemDetails {
    ProblemDetails(.serviceUnavailable, detail: detail)
  }
}

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
