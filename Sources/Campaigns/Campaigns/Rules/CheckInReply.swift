internal import FoundationEssentials
internal import PushRules

/// What a language model's reply must be to be sent.
///
/// A reply that breaks a rule is refused as a whole. Nothing is repaired: a cut or cleaned text may say what the model
/// did not mean.
struct ReplyCheck {
  /// The most bytes of a title. A cluster has no largest size; with 8 bytes each there is room for every script.
  private static let titleBytesMax = 400
  /// The most bytes of a body: 12 for each cluster, which leaves over 1,200 of the 4,096 that APNs takes.
  private static let bodyBytesMax = 2_400
  /// The most bytes of a model's reply. 150 tokens have about a thousand; title and body at their limits, with every
  /// character escaped in six bytes for two, have 8,400.
  static let replyBytesMax = 16_384

  let rules: ReplyRules
  /// The texts that must not be quoted, where the rules say so; see ``CampaignMaterial/quotableTexts``.
  var sources: [String] = []
  /// Whether a reply may be one line instead of a JSON object: the body, or `title|body`, whose body may have a `|`.
  var takesLine = true
  /// Whether a model may write nothing, and why instead.
  var mayRefuse = false
  /// The title above a body that the model writes alone; nil for one that it writes too.
  var title: String?

  /// The title and the body of a reply, both trimmed.
  ///
  /// The rules are checked in the order of ``ReplyDefect``'s cases, cheap ones first. The time is linear in the reply
  /// and the sources together.
  /// - Parameter modelText: a JSON object of exactly `title` and `body`, or of `body` alone, or a line. White space around it is
  ///   allowed, and one Markdown fence (three backticks, alone or with `json`), because models add it even when told not to. No
  ///   other word may precede or follow it.
  /// - Throws: the first ``ReplyDefect``.
  func text(in modelText: String) throws(ReplyDefect) -> CampaignText {
    if modelText.utf8.count > Self.replyBytesMax { throw .tooLarge }
    let content = String(Self.withoutFence(modelText.trimmed).trimmed)
    let text = takesLine && !content.hasPrefix("{") ? try line(content) : try object(content)
    guard text.title.contains(where: \.isLetter), text.body.contains(where: \.isLetter) else { throw .wrongShape }
    if text.title.unicodeScalars.contains(where: \.isUnseen) { throw .hasControl }
    if text.body.unicodeScalars.contains(where: { $0.isUnseen && $0 != "\n" }) { throw .hasControl }
    if text.title.utf8.count > Self.titleBytesMax || text.title.count > CampaignText.titleClustersMax {
      throw .titleTooLong
    }
    if text.body.utf8.count > Self.bodyBytesMax || text.body.count > CampaignText.bodyClustersMax { throw .bodyTooLong }
    if let defect = WordingCheck.defect(in: text, rules: rules) { throw defect }
    if rules == .coach, QuotationUnit.all.contains(where: { $0.isAnyQuoted(of: sources, in: [text.title, text.body]) })
    {
      throw .quotesUser
    }
    return text
  }

  /// Why the model writes nothing; nil for any reply but `{"skip": "over"}`. A word that is not known may be the user's, so it is
  /// not kept.
  func refusal(in modelText: String) -> EventRefusal? {
    guard mayRefuse, modelText.utf8.count <= Self.replyBytesMax else { return nil }
    let object = PayloadObject(reading: Self.withoutFence(modelText.trimmed).trimmed.utf8)
    guard let object, object.members.count == 1, let word = object.text("skip") else { return nil }
    return EventRefusal(rawValue: word) ?? .other
  }

  private func object(_ content: String) throws(ReplyDefect) -> CampaignText {
    // Not PayloadObject: models write a comma after the last member, too.
    var members: [String: String]
    do {
      members = try JSONDecoder().decode([String: String].self, from: Data(content.utf8))
    } catch DecodingError.dataCorrupted {
      throw .notJSON
    } catch {
      throw .wrongShape
    }
    guard let body = members.removeValue(forKey: "body"), let title = title ?? members.removeValue(forKey: "title"),
      members.isEmpty
    else { throw .wrongShape }
    return CampaignText(title: String(title.trimmed), body: String(body.trimmed))
  }

  /// The content of one Markdown fence around the whole text; the text itself without a fence.
  private static func withoutFence(_ text: Substring) -> Substring {
    let fence = "```"
    guard text.hasPrefix(fence), text.hasSuffix(fence), text.count >= 2 * fence.count else { return text }
    let inside = text.dropFirst(fence.count).dropLast(fence.count)
    return inside.hasPrefix("json") ? inside.dropFirst("json".count) : inside
  }

  private func line(_ content: String) throws(ReplyDefect) -> CampaignText {
    if content.contains(where: \.isNewline) { throw .wrongShape }
    if let title { return CampaignText(title: title, body: content) }
    let parts = content.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .wrongShape }
    return CampaignText(title: String(parts[0].trimmed), body: String(parts[1].trimmed))
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and not a space: a control character, a line break, or hidden.
  fileprivate var isUnseen: Bool { isHidden || isBlank && properties.generalCategory != .spaceSeparator }
}

/// Why a model writes nothing of an event that was found. Raw values are the model's words, and stored to explain a run.
package enum EventRefusal: String, CaseIterable, Sendable {
  case notTheirs = "not_theirs"
  case over
  case habit
  case notHappening = "not_happening"
  case other

  /// Of a prompt.
  static let words = allCases.map(\.rawValue).joined(separator: ", ")
}

/// Why a model's reply is not sent.
///
/// Raw values are part of the interface: they are stored to explain a run, and they are metric labels. A defect
/// contains no text of the reply, which may repeat the user's words.
package enum ReplyDefect: String, Error, CaseIterable, Sendable {
  case tooLarge = "reply_too_large"
  case notJSON = "reply_not_json"
  /// Not an object of exactly `title` and `body`, both strings with a letter in them.
  case wrongShape = "reply_wrong_shape"
  /// A control or invisible character, or a line break in the title.
  case hasControl = "reply_has_control"
  case titleTooLong = "reply_title_too_long"
  case bodyTooLong = "reply_body_too_long"
  /// A link, an address, or something that a phone may turn into one.
  case hasLink = "reply_has_link"
  /// Markup, a piece of the prompt, or words about its format.
  case hasMarkup = "reply_has_markup"
  /// A phrase that would fit any recipient.
  case emptyPhrase = "reply_empty_phrase"
  case demands = "reply_demands"
  case quotesUser = "reply_quotes_user"
}

/// Refuses replies by their wording: links, markup, empty phrases and demands.
///
/// The phrases are English, as the requirement is. In other languages only the instructions restrain the model.
enum WordingCheck {
  /// The first rule that the title or the body breaks; nil when both keep all of them.
  static func defect(in text: CampaignText, rules: ReplyRules) -> ReplyDefect? {
    let parts = [text.title, text.body]
    let words = parts.map(\.foldedWords)
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

  private static func folded(_ phrases: [String]) -> [[String]] { phrases.map(\.foldedWords) }

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
    let sentences = body.split(whereSeparator: { ".!?…\n".contains($0) }).map { String($0).foldedWords }
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
  /// Four signs between adjacent characters: `:/` or another colon between letters, `@`, and a dot between a letter or digit and
  /// two letters. The last sign also refuses a missing space after a full stop, because phones draw it as a link.
  private static func hasLink(_ text: String) -> Bool {
    let link = /[@＠]|[:：]\/|\p{Alphabetic}[:：]\p{Alphabetic}|[\p{Alphabetic}\p{N}][.．]\p{Alphabetic}{2}/
    return text.contains(link.matchingSemantics(.unicodeScalar))
  }
}

/// The unit of a quotation's length.
///
/// Five words in a row are a quotation. Scripts without spaces count characters: about as many as five words have, and
/// more than the longest everyday word has, so that naming the topic is not a quotation.
struct QuotationUnit {
  /// The shortest run that is a quotation.
  let runMin: Int
  /// Of the letters that are units; empty where words are.
  var letters: [ClosedRange<UInt32>] = []

  static let words = QuotationUnit(runMin: 5)
  /// Chinese characters and Japanese kana. Five Chinese words have eight to ten; プレゼンテーション alone has nine.
  static let ideographs = QuotationUnit(
    runMin: 10,
    // Kana with its long vowel mark, the two common blocks of ideographs, compatibility ideographs, the planes beyond.
    letters: [
      0x3005...0x3005, 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF,
    ])
  /// Letters of Thai, Lao, Khmer and Burmese without marks. Five words have about sixteen.
  static let southEastAsianLetters = QuotationUnit(
    runMin: 16, letters: [0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF])
  static let all = [words, ideographs, southEastAsianLetters]

  /// Whether a run of a source is one of the reply's. No run continues from one of the reply's parts to the next.
  ///
  /// The runs themselves are compared and not hashes of them, so no crafted text can cause a false match.
  func isAnyQuoted(of sources: [String], in parts: [String]) -> Bool {
    let known = Set(parts.flatMap(runs))
    return !known.isEmpty && sources.contains { !known.isDisjoint(with: runs(of: $0)) }
  }

  /// All runs of a text, one for each unit at most.
  func runs(of text: String) -> [ArraySlice<String>] {
    let units = units(of: text)
    return units.indices.dropFirst(runMin - 1).map { units[($0 - runMin + 1)...$0] }.filter { !$0.contains("") }
  }

  /// The units of a text in order, with an empty one where a run must end. Punctuation and spaces do not end a run.
  private func units(of text: String) -> [String] {
    if letters.isEmpty { return text.foldedWords }
    return text.unicodeScalars.compactMap(\.folded).filter { $0 != " " }.map { letter in
      letters.contains { $0.contains(letter.value) } ? String(letter) : ""
    }
  }
}
