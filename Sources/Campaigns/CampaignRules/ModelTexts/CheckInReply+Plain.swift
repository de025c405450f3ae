extension CheckInReply {
  /// Checks a reply to a ``ModelTask``.
  ///
  /// A title and a body are a JSON object of both, or one line `title|body`. A body alone is a JSON object with the member
  /// `body`, or one line.
  /// - Parameter sources: texts that must not be quoted, where the rules say so.
  /// - Throws: the first ``ReplyDefect``.
  public init(
    modelText: String, form: ReplyForm, rules: ReplyRules, sources: [String] = []
  ) throws(ReplyDefect) {
    if modelText.utf8.count > Self.replyBytesMax { throw .tooLarge }
    let content = Self.withoutFence(modelText.trimmed).trimmed
    let text = content.hasPrefix("{") ? try Self.object(content, form) : try Self.line(content, form)
    guard text.title.contains(where: \.isLetter), text.body.contains(where: \.isLetter) else { throw .wrongShape }
    try self.init(checking: text, rules: rules, sources: sources)
  }

  private static func object(_ content: String, _ form: ReplyForm) throws(ReplyDefect) -> CampaignText {
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

  private static func line(_ content: String, _ form: ReplyForm) throws(ReplyDefect) -> CampaignText {
    if content.contains(where: \.isNewline) { throw .wrongShape }
    switch form {
    case .body(let title): return CampaignText(title: title, body: content)
    case .titleAndBody:
      let parts = content.split(separator: "|", omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw .wrongShape }
      return CampaignText(title: parts[0].trimmed, body: parts[1].trimmed)
    }
  }
}
