/// Why a model's reply is not sent. Raw values are part of the interface: they are stored to explain a run, and are metric
/// labels. A defect never carries any of the reply's text, which may repeat the user's.
public enum ReplyDefect: String, Error, CaseIterable, Sendable {
  /// More bytes than any reply within the limits has.
  case tooLarge = "reply_too_large"
  /// Not one JSON document.
  case notJSON = "reply_not_json"
  /// Not an object of exactly `title` and `body`, both strings with a letter in them.
  case wrongShape = "reply_wrong_shape"
  /// A control or invisible character, or a line break in the title.
  case hasControl = "reply_has_control"
  /// The title is too long.
  case titleTooLong = "reply_title_too_long"
  /// The body is too long.
  case bodyTooLong = "reply_body_too_long"
  /// A link, an address, or what a phone may take for one.
  case hasLink = "reply_has_link"
  /// Markup, a remainder of the prompt, or talk of its format.
  case hasMarkup = "reply_has_markup"
  /// A phrase that could go to anybody.
  case emptyPhrase = "reply_empty_phrase"
  /// A demand instead of an invitation.
  case demands = "reply_demands"
  /// A run of the user's own words.
  case quotesUser = "reply_quotes_user"
}
