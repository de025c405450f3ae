/// A text of an alert: the words, or a key under which the app has them in the user's language.
///
/// One or the other: Apple documents the key as given instead of the words.
public enum AlertText: Equatable, Sendable {
  /// Words, shown as they are.
  case verbatim(String)
  /// A key of the app's `Localizable` tables, and what takes the places of `%@` in its text, in order.
  case localized(key: String, arguments: [String] = [])

  /// Whether there is nothing to show: no words, or no key.
  var isEmpty: Bool {
    switch self {
    case .verbatim(let words): words.isEmpty
    case .localized(let key, _): key.isEmpty
    }
  }

  /// Nil in place of an empty text, so that there is one way to say that there is none.
  var unlessEmpty: AlertText? { isEmpty ? nil : self }
}

extension AlertText: ExpressibleByStringLiteral {
  /// Words written in the source.
  public init(stringLiteral value: String) { self = .verbatim(value) }
}
