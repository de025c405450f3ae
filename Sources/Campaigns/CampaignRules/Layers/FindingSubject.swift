/// What a check-in is about. Some of it is the user's own life in words, so it is for the prompt and never for the log.
public enum FindingSubject: Equatable, Sendable {
  /// Something is coming up: the event's canonical word, when it is in words of the user's own day, how precisely that is
  /// known, and how surely.
  case event(word: String, when: String, grain: EventGrain, confidence: Double)
  /// A pattern.
  case pattern(RecognizedPattern)
  /// The last conversation, by a phrase of its last few messages. These are the user's words.
  case conversation(topic: String)
  /// What the campaign itself is about, by its name for it.
  case occasion(name: String)
}
