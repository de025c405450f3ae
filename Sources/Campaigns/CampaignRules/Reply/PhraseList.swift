/// Phrases that a reply must not have, compared as words without case, accents and punctuation.
///
/// They are English, as the requirement is. In other languages only the instructions keep the model from their like.
struct PhraseList {
  private let phrases: [[String]]

  init(_ phrases: [String]) {
    self.phrases = phrases.map { FoldedWords($0).words }
  }

  /// Whether one of them stands in a text.
  func matches(_ text: FoldedWords) -> Bool {
    phrases.contains { text.words.contains($0) }
  }

  /// What could go to anybody.
  static let empty = PhraseList([
    "just checking in", "checking in on you", "we miss you", "we missed you", "miss you", "missed you",
    "don't forget", "do not forget", "come back", "it's been a while", "it has been a while", "long time no see",
    "hope you're doing well", "hope you are doing well", "hope this finds you well", "friendly reminder",
    "just a reminder", "gentle reminder", "we haven't seen you", "haven't heard from you", "where have you been",
    "your journey awaits", "ready to get started", "get started today", "special offer", "limited time", "buy now",
    "dear user", "valued customer", "as an AI", "language model",
  ])

  /// What leaves no choice.
  static let demands = PhraseList([
    "you must", "you need to", "you have to", "you've got to", "you ought to", "you should", "you had better",
    "don't miss", "do not miss", "don't wait", "do not wait", "make sure", "be sure to", "act now", "right away",
    "hurry", "last chance", "no excuses", "it's time to", "log in now", "open the app", "tap here", "click here",
  ])

  /// Talk of the format that was asked for.
  static let format = PhraseList(["JSON", "system prompt", "previous instructions", "all instructions"])
}
