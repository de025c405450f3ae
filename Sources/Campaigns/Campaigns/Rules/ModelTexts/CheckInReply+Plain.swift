extension CheckInReply {
  /// Checks a reply to a ``ModelTask``.
  ///
  /// A title and a body are a JSON object of both, or one line `title|body`, whose body may have a `|`. A body alone is a JSON
  /// object with the member `body`, or one line.
  /// - Parameter sources: texts that must not be quoted, where the rules say so.
  /// - Throws: the first ``ReplyDefect``.
  package init(
    modelText: String, form: ReplyForm, rules: ReplyRules, sources: [String] = []
  ) throws(ReplyDefect) {
    let text = try Self.text(in: modelText) { content throws(ReplyDefect) in
      content.hasPrefix("{") ? try Self.object(content, form) : try Self.line(content, form)
    }
    try self.init(checking: text, rules: rules, sources: sources)
  }

  private static func line(_ content: String, _ form: ReplyForm) throws(ReplyDefect) -> CampaignText {
    if content.contains(where: \.isNewline) { throw .wrongShape }
    switch form {
    case .body(let title): return CampaignText(title: title, body: content)
    case .titleAndBody:
      let parts = content.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw .wrongShape }
      return CampaignText(title: parts[0].trimmed, body: parts[1].trimmed)
    }
  }
}
