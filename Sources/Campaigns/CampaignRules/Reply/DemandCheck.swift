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
