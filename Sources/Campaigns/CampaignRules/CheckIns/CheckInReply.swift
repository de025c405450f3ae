/// A language model's reply that may be sent.
///
/// Whatever breaks one of the rules is refused whole; nothing is repaired, because a text that had to be cut or cleaned is
/// not one that somebody meant.
public struct CheckInReply: Equatable, Sendable {
  /// The most grapheme clusters of a title.
  public static let titleClustersMax = 50
  /// The most grapheme clusters of a body.
  public static let bodyClustersMax = 200
  /// The most bytes of a title. A cluster has no largest size; with 8 bytes each there is room for every script.
  public static let titleBytesMax = 400
  /// The most bytes of a body: 12 for each cluster, which leaves over 1,200 of the 4,096 that APNs takes.
  public static let bodyBytesMax = 2_400
  /// The most bytes of a model's reply. 150 tokens have about a thousand; title and body at their limits, with every
  /// character escaped in six bytes for two, have 8,400.
  public static let replyBytesMax = 16_384

  /// Title and body, without white space around either.
  public let text: CampaignText

  /// Checks a reply.
  ///
  /// The rules are asked in the order of ``ReplyDefect``'s cases, cheap ones first, and the first that is broken is
  /// thrown. The time is linear in the reply and in the sources together.
  /// - Parameters:
  ///   - modelText: what the model wrote, a JSON object of exactly `title` and `body`. White space around it is
  ///     tolerated, and one Markdown fence (three backticks, alone or with `json`), because models add it even when told
  ///     not to and what is inside is checked all the same. Any other word before or after is not.
  ///   - sources: the texts that must not be quoted: all that were in the prompt or could be, see
  ///     ``CampaignMaterial/quotableTexts``.
  /// - Throws: the first ``ReplyDefect``.
  public init(modelText: String, sources: [String]) throws(ReplyDefect) {
    let text = try ReplyDocument(modelText).text
    try Self.checkForm(of: text)
    try Self.checkWording(of: text)
    let parts = [text.title, text.body]
    if QuotationCheck.isAnyQuoted(of: sources, in: parts) { throw .quotesUser }
    self.text = text
  }

  private static func checkForm(of text: CampaignText) throws(ReplyDefect) {
    if text.title.unicodeScalars.contains(where: \.isUnseen) { throw .hasControl }
    if text.body.unicodeScalars.contains(where: { $0.isUnseen && $0 != "\n" }) { throw .hasControl }
    if text.title.utf8.count > titleBytesMax || text.title.count > titleClustersMax { throw .titleTooLong }
    if text.body.utf8.count > bodyBytesMax || text.body.count > bodyClustersMax { throw .bodyTooLong }
  }

  private static func checkWording(of text: CampaignText) throws(ReplyDefect) {
    let words = [FoldedWords(text.title), FoldedWords(text.body)]
    if LinkCheck.finds(in: text.title) || LinkCheck.finds(in: text.body) { throw .hasLink }
    if MarkupCheck.finds(in: text.title) || MarkupCheck.finds(in: text.body) { throw .hasMarkup }
    if words.contains(where: PhraseList.format.matches) { throw .hasMarkup }
    if words.contains(where: PhraseList.empty.matches) { throw .emptyPhrase }
    if words.contains(where: PhraseList.demands.matches) { throw .demands }
    if DemandCheck.endsWithCommand(text.body) { throw .demands }
  }
}

extension Unicode.Scalar {
  /// Whether it is drawn as nothing, other than a space: a control character, a line break, or hidden.
  fileprivate var isUnseen: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: isHidden
    }
  }
}

/// The JSON document of a reply.
struct ReplyDocument {
  let text: CampaignText

  init(_ modelText: String) throws(ReplyDefect) {
    if modelText.utf8.count > CheckInReply.replyBytesMax { throw .tooLarge }
    guard let value = JSONValue(Self.withoutFence(modelText.trimmed)) else { throw .notJSON }
    guard case .object(let members) = value, members.count == 2,
      case .string(let title) = members["title"], case .string(let body) = members["body"]
    else { throw .wrongShape }
    text = CampaignText(title: title.trimmed, body: body.trimmed)
    guard text.title.contains(where: \.isLetter), text.body.contains(where: \.isLetter) else { throw .wrongShape }
  }

  /// What is inside one Markdown fence around all of it; the text itself when there is none.
  private static func withoutFence(_ text: String) -> String {
    let fence = "```"
    guard text.hasPrefix(fence), text.hasSuffix(fence), text.count >= 2 * fence.count else { return text }
    let inside = text.dropFirst(fence.count).dropLast(fence.count)
    return String(inside.hasPrefix("json") ? inside.dropFirst("json".count) : inside)
  }
}

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
