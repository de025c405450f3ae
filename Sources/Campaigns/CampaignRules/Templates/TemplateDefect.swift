/// Why a text is no template. Raw values are stable.
public enum TemplateDefect: String, Error, CaseIterable, Sendable {
  /// The title or the body has nothing visible.
  case empty = "template_empty"
  /// A brace that is not closed, was not opened, or stands in another placeholder.
  case unmatchedBrace = "template_unmatched_brace"
  /// A placeholder's name is not made of `a`–`z`, digits and `_`, or is empty.
  case invalidName = "template_invalid_name"
}
