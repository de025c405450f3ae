/// What is wrong with a campaign's definition, and where.
public struct CampaignDefinitionDefect: Error, Equatable, Sendable {
  /// What is wrong. Raw values are stable.
  public enum Code: String, CaseIterable, Sendable {
    /// The document is not JSON.
    case notJSON = "not_json"
    /// The key is none of a definition's; also a payload's key that the run itself fills.
    case unknownKey = "unknown_key"
    /// The key has to be there.
    case missingKey = "missing_key"
    /// The value is of another type than it must be.
    case wrongType = "wrong_type"
    /// The value is none of the words that are known there.
    case unknownWord = "unknown_word"
    /// The number, or the length, is not within its limits.
    case outOfRange = "out_of_range"
    /// The value is there twice.
    case repeated
    /// The template cannot be read.
    case invalidTemplate = "invalid_template"
    /// A push type that the campaign can come to has no template.
    case noTemplate = "no_template"
  }

  /// What is wrong.
  public let code: Code
  /// Where, as a path of keys and indices: `templates.event_based[0].title`; `$` for the document itself.
  public let field: String
  /// What is expected there.
  public let expected: String

  init(_ code: Code, at field: String, expected: String) {
    self.code = code
    self.field = field
    self.expected = expected
  }
}

extension CampaignDefinitionDefect: CustomStringConvertible {
  /// For whoever wrote the definition: `composer.kind: unknown_word, expected one of: model, template`.
  public var description: String {
    "\(field): \(code.rawValue), expected \(expected)"
  }
}
