package import FoundationEssentials
package import HTTP1
internal import HTTPTypes

/// A JSON object from a script. An unknown member is refused, because a misspelt one would silently have no effect.
package protocol ControlDocument: Decodable, Sendable {
  associatedtype CodingKeys: CodingKey & CaseIterable
}

extension ControlDocument {
  /// Reads a body.
  /// - Throws: `ProblemDetails` with 400 that names the mistake.
  package static func read(_ body: [UInt8]) throws(ProblemDetails) -> Self {
    try decodeControl(Checked<Self>.self, from: body).document
  }
}

/// Reads JSON that a person wrote.
/// - Throws: `ProblemDetails` with 400 that names the mistake.
package func decodeControl<Value: Decodable>(
  _ type: Value.Type, from bytes: [UInt8]
) throws(ProblemDetails) -> Value {
  do {
    return try JSONDecoder().decode(type, from: Data(bytes))
  } catch {
    throw ProblemDetails.unfit(plainText(of: error))
  }
}

/// A document without unknown members; for documents inside others.
package struct Checked<Document: ControlDocument>: Decodable, Sendable {
  package let document: Document

  package init(from decoder: any Decoder) throws {
    let names = Set(try decoder.container(keyedBy: MemberName.self).allKeys.map(\.stringValue))
    let known = Set(Document.CodingKeys.allCases.map(\.stringValue))
    if let stranger = names.subtracting(known).sorted().first {
      let text = "\(stranger) is none of \(known.sorted().joined(separator: ", "))"
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
    }
    document = try Document(from: decoder)
  }
}

/// The mistake in a document, for its author.
private func plainText(of error: any Error) -> String {
  switch error {
  case DecodingError.keyNotFound(let key, let context):
    "\(place(context.codingPath, key)) is missing"
  case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
    "\(place(context.codingPath)) has the wrong type: \(context.debugDescription)"
  case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty: context.debugDescription
  case DecodingError.dataCorrupted(let context): "\(place(context.codingPath)): \(context.debugDescription)"
  default: "the body does not fit: \(error)"
  }
}

private func place(_ path: [any CodingKey], _ last: (any CodingKey)? = nil) -> String {
  let names = (path + (last.map { [$0] } ?? [])).map { $0.intValue.map { "item \($0 + 1)" } ?? $0.stringValue }
  return names.isEmpty ? "the body" : names.joined(separator: ".")
}

/// The name of any JSON member.
package struct MemberName: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(_ name: String) {
    stringValue = name
  }

  package init?(stringValue: String) {
    self.stringValue = stringValue
  }

  package init?(intValue: Int) {
    return nil
  }
}

/// Limits of the numbers in scripts: larger than any use, and small enough for every sum.
package enum ControlLimits {
  /// A day.
  package static let millisecondsMax = 86_400_000
  /// A year.
  package static let secondsMax = 31_536_000
  /// A century, in either direction.
  package static let clockMillisecondsMax: Int64 = 3_155_760_000_000
  /// Requests, connections, streams.
  package static let countMax = 1_000_000_000

  /// Accepts an absent number.
  /// - Throws: `ProblemDetails` that names the number and its range.
  package static func check(
    _ name: String, _ number: Int?, from lowest: Int = 0, to highest: Int = millisecondsMax
  ) throws(ProblemDetails) {
    guard let number, !(lowest...highest).contains(number) else { return }
    throw ProblemDetails.unfit("\(name) is a number from \(lowest) to \(highest)")
  }
}

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
