/// A language model's reply that may be sent.
///
/// A reply that breaks a rule is refused as a whole. Nothing is repaired: a cut or cleaned text may say what the model
/// did not mean.
package struct CheckInReply: Equatable, Sendable {
  package static let titleClustersMax = 50
  package static let bodyClustersMax = 200
  /// The most bytes of a title. A cluster has no largest size; with 8 bytes each there is room for every script.
  package static let titleBytesMax = 400
  /// The most bytes of a body: 12 for each cluster, which leaves over 1,200 of the 4,096 that APNs takes.
  package static let bodyBytesMax = 2_400
  /// The most bytes of a model's reply. 150 tokens have about a thousand; title and body at their limits, with every
  /// character escaped in six bytes for two, have 8,400.
  package static let replyBytesMax = 16_384

  /// Title and body, both trimmed.
  package let text: CampaignText

  /// Checks a reply.
  ///
  /// The rules are checked in the order of ``ReplyDefect``'s cases, cheap ones first. The time is linear in the reply
  /// and the sources together.
  /// - Parameters:
  ///   - modelText: the model's reply, a JSON object of exactly `title` and `body`. White space around it is allowed,
  ///     and one Markdown fence (three backticks, alone or with `json`), because models add it even when told not to.
  ///     No other word may precede or follow it.
  ///   - sources: the texts that must not be quoted, see ``CampaignMaterial/quotableTexts``.
  /// - Throws: the first ``ReplyDefect``.
  package init(modelText: String, sources: [String]) throws(ReplyDefect) {
    let text = try Self.text(in: modelText) { content throws(ReplyDefect) in try Self.object(content, .titleAndBody) }
    try self.init(checking: text, rules: .coach, sources: sources)
  }

  init(checking text: CampaignText, rules: ReplyRules, sources: [String]) throws(ReplyDefect) {
    try Self.checkForm(of: text)
    if let defect = WordingCheck.defect(in: text, rules: rules) { throw defect }
    if rules == .coach, QuotationCheck.isAnyQuoted(of: sources, in: [text.title, text.body]) { throw .quotesUser }
    self.text = text
  }

  private static func checkForm(of text: CampaignText) throws(ReplyDefect) {
    if text.title.unicodeScalars.contains(where: \.isUnseen) { throw .hasControl }
    if text.body.unicodeScalars.contains(where: { $0.isUnseen && $0 != "\n" }) { throw .hasControl }
    if text.title.utf8.count > titleBytesMax || text.title.count > titleClustersMax { throw .titleTooLong }
    if text.body.utf8.count > bodyBytesMax || text.body.count > bodyClustersMax { throw .bodyTooLong }
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and not a space: a control character, a line break, or hidden.
  fileprivate var isUnseen: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: isHidden
    }
  }
}

extension CheckInReply {
  /// The text in a reply without its fence.
  /// - Parameter read: reads the rest.
  static func text(
    in modelText: String, by read: (String) throws(ReplyDefect) -> CampaignText
  ) throws(ReplyDefect) -> CampaignText {
    if modelText.utf8.count > replyBytesMax { throw .tooLarge }
    let text = try read(withoutFence(modelText.trimmed).trimmed)
    guard text.title.contains(where: \.isLetter), text.body.contains(where: \.isLetter) else { throw .wrongShape }
    return text
  }

  /// A JSON object with exactly the members of a form.
  static func object(_ content: String, _ form: ReplyForm) throws(ReplyDefect) -> CampaignText {
    guard let value = JSONValue(content) else { throw .notJSON }
    guard case .object(let members) = value, case .string(let body) = members["body"] else { throw .wrongShape }
    switch form {
    case .body(let title):
      guard members.count == 1 else { throw .wrongShape }
      return CampaignText(title: title, body: body.trimmed)
    case .titleAndBody:
      guard members.count == 2, case .string(let title) = members["title"] else { throw .wrongShape }
      return CampaignText(title: title.trimmed, body: body.trimmed)
    }
  }

  /// The content of one Markdown fence around the whole text; the text itself without a fence.
  private static func withoutFence(_ text: String) -> String {
    let fence = "```"
    guard text.hasPrefix(fence), text.hasSuffix(fence), text.count >= 2 * fence.count else { return text }
    let inside = text.dropFirst(fence.count).dropLast(fence.count)
    return String(inside.hasPrefix("json") ? inside.dropFirst("json".count) : inside)
  }
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
