internal import FoundationEssentials
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
