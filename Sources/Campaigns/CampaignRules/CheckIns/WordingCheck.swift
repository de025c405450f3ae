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

/// Finds links, addresses, and what a phone may take for one.
enum LinkCheck {
  /// Whether there is any. Four signs between characters that touch: `://` or another colon between letters, `@`, `www`
  /// before a dot, and a dot between a letter or digit and two letters. The last also finds a missing space after a full
  /// stop; such a reply is refused as well, since a phone would draw it as a link.
  static func finds(in text: String) -> Bool {
    let scalars = text.unicodeScalars.map { $0 == "\u{FF0E}" ? "." : $0 }
    return scalars.indices.contains { index in
      switch scalars[index] {
      case "@", "\u{FF20}": true
      case ":", "\u{FF1A}": isScheme(scalars[..<index], scalars[(index + 1)...])
      case ".": isDomain(scalars[..<index], scalars[(index + 1)...])
      default: false
      }
    }
  }

  private static func isScheme(_ before: ArraySlice<Unicode.Scalar>, _ after: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = after.first else { return false }
    if first == "/" { return true }
    return before.last?.properties.isAlphabetic == true && first.properties.isAlphabetic
  }

  private static func isDomain(_ before: ArraySlice<Unicode.Scalar>, _ after: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let last = before.last, after.count >= 2 else { return false }
    let isName = last.properties.isAlphabetic || last.properties.numericType != nil
    return isName && after.prefix(2).allSatisfy(\.properties.isAlphabetic)
  }
}

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

/// Finds an ending that orders instead of inviting.
///
/// Whether a sentence invites cannot be decided by rule in every language. What is decided: the last sentence must not
/// begin with a verb that orders something done in the app. A question is always an invitation, and so is an order to tell
/// or to share, which coaches use: "Tell me how it went, if you like."
enum DemandCheck {
  private static let commands: Set<String> = [
    "act", "begin", "buy", "check", "claim", "click", "complete", "continue", "download", "finish", "hurry",
    "join", "log", "open", "order", "remember", "reply", "respond", "return", "sign", "start", "stop", "subscribe",
    "tap",
    "visit",
  ]

  /// Whether the last sentence is such an order.
  static func endsWithCommand(_ body: String) -> Bool {
    if let last = body.last(where: { $0.isPunctuation || $0.isLetter }), "?？؟".contains(last) { return false }
    let sentences = body.split(whereSeparator: { ".!?…\n".contains($0) }).map { FoldedWords(String($0)).words }
    guard let sentence = sentences.last(where: { !$0.isEmpty }) else { return false }
    return commands.contains(sentence[sentence[0] == "please" && sentence.count > 1 ? 1 : 0])
  }
}
