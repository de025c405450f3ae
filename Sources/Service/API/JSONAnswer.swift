internal import FoundationEssentials

/// A body of strings, numbers, booleans and lists of them: nothing that could fail to encode.
protocol JSONAnswer: Encodable {}

extension JSONAnswer {
  /// The document in UTF-8, its keys sorted, so that equal answers are equal texts.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { preconditionFailure("an answer could not be encoded") }
    return Array(data)
  }
}
