internal import FoundationEssentials

/// A JSON document of strings, finite numbers, booleans and lists of them, which cannot fail to encode.
package protocol JSONAnswer: Encodable {}

extension JSONAnswer {
  /// The document in UTF-8: `pushLogID` as `push_log_id`, what is nil left out, and the keys sorted, so that equal answers are
  /// equal texts.
  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { preconditionFailure("an answer could not be encoded") }
    return Array(data)
  }
}
