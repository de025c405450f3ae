/// Finds markup and remainders of the prompt.
enum MarkupCheck {
  /// Characters that prose on a phone has no use for: those of tags (also as the prompt writes them), of Markdown, of code.
  /// The push types of the prompt are found by their underscore.
  private static let characters = Set("<>‹›＜＞{}[]_`*#|\\^~=".unicodeScalars)

  /// Whether there is any.
  static func finds(in text: String) -> Bool {
    text.unicodeScalars.contains(where: characters.contains)
  }
}
