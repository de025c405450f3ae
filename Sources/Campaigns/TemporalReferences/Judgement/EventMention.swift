/// A word of a sentence that names an event.
struct EventMention {
  /// Its description in the language's table.
  let event: String
  /// Which lexeme it is.
  let index: Int
  /// Whether the text says there is no such event.
  let isDenied: Bool
  /// Whether it is somebody else's.
  let isAnothers: Bool
}
