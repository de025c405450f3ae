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
