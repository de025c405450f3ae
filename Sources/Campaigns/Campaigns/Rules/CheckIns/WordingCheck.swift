/// Refuses replies by their wording: links, markup, empty phrases and demands.
///
/// The phrases are English, as the requirement is. In other languages only the instructions restrain the model.
enum WordingCheck {
  /// The first rule that the title or the body breaks; nil when both keep all of them.
  static func defect(in text: CampaignText, rules: ReplyRules) -> ReplyDefect? {
    let parts = [text.title, text.body]
    let words = parts.map { FoldedWords($0).words }
    func has(_ phrases: [[String]]) -> Bool { words.contains { words in phrases.contains(where: words.contains) } }

    if parts.contains(where: hasLink) { return .hasLink }
    if parts.contains(where: hasMarkup) || has(formatPhrases) { return .hasMarkup }
    if rules == .plain { return nil }
    if has(emptyPhrases) { return .emptyPhrase }
    return has(demands) || endsWithCommand(text.body) ? .demands : nil
  }

  private static let emptyPhrases = folded([
    "just checking in", "checking in on you", "we miss you", "we missed you", "miss you", "missed you",
    "don't forget", "do not forget", "come back", "it's been a while", "it has been a while", "long time no see",
    "hope you're doing well", "hope you are doing well", "hope this finds you well", "friendly reminder",
    "just a reminder", "gentle reminder", "we haven't seen you", "haven't heard from you", "where have you been",
    "your journey awaits", "ready to get started", "get started today", "special offer", "limited time", "buy now",
    "dear user", "valued customer", "as an AI", "language model",
  ])

  private static let demands = folded([
    "you must", "you need to", "you have to", "you've got to", "you ought to", "you should", "you had better",
    "don't miss", "do not miss", "don't wait", "do not wait", "make sure", "be sure to", "act now", "right away",
    "hurry", "last chance", "no excuses", "it's time to", "log in now", "open the app", "tap here", "click here",
  ])

  private static let formatPhrases = folded(["JSON", "system prompt", "previous instructions", "all instructions"])

  private static func folded(_ phrases: [String]) -> [[String]] { phrases.map { FoldedWords($0).words } }
}

extension WordingCheck {
  private static let commands: Set<String> = [
    "act", "begin", "buy", "check", "claim", "click", "complete", "continue", "download", "finish", "hurry",
    "join", "log", "open", "order", "remember", "reply", "respond", "return", "sign", "start", "stop", "subscribe",
    "tap", "visit",
  ]

  /// Whether the last sentence begins with a verb that orders something done in the app.
  ///
  /// No rule can decide in every language whether a sentence invites. A question always counts as an invitation, and so
  /// does an order to tell or to share, which coaches use: "Tell me how it went, if you like."
  private static func endsWithCommand(_ body: String) -> Bool {
    if let last = body.last(where: { $0.isPunctuation || $0.isLetter }), "?？؟".contains(last) { return false }
    let sentences = body.split(whereSeparator: { ".!?…\n".contains($0) }).map { FoldedWords(String($0)).words }
    guard let sentence = sentences.last(where: { !$0.isEmpty }) else { return false }
    return commands.contains(sentence[sentence[0] == "please" && sentence.count > 1 ? 1 : 0])
  }

  /// Characters of tags (also as the prompt writes them), of Markdown and of code, which prose on a phone does not
  /// need. The underscore finds the prompt's push types.
  private static let markup = Set("<>‹›＜＞{}[]_`*#\\^~=".unicodeScalars)

  /// A bar between words is none; a row of a table begins or ends with one.
  private static func hasMarkup(_ text: String) -> Bool {
    text.unicodeScalars.contains(where: markup.contains) || text.hasPrefix("|") || text.hasSuffix("|")
  }

  /// Whether the text has a link, an address, or something that a phone may turn into one.
  ///
  /// Four signs between adjacent characters: `://` or another colon between letters, `@`, `www` before a dot, and a dot
  /// between a letter or digit and two letters. The last sign also refuses a missing space after a full stop, because
  /// phones draw it as a link.
  private static func hasLink(_ text: String) -> Bool {
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
