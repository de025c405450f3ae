internal import PushRules

/// The topic of the last conversation, of a user who has been away.
extension CampaignLayer {
  static let reengagement = CampaignLayer(
    name: "re_engagement", pushType: "re_engagement",
    rules: [.conversationSourceMissing, .noConversation, .noTopic], outcome: TopicSearch.outcome)
}

extension LayerRule {
  static let conversationSourceMissing = LayerRule(
    "conversation_source_missing", "the host's conversations cannot be read")
  static let noConversation = LayerRule("no_conversation", "there is no conversation to take up")
  static let noTopic = LayerRule("no_topic", "the last conversation has no topic")
}

/// Takes the beginnings of a conversation's last messages, bounded in a language model's tokens.
///
/// The estimate is an upper bound without the model's dictionary: a word costs one token for every three bytes of UTF-8
/// that it begins. English has four bytes a token or more, and a Chinese character (three bytes) is about one token.
private enum TopicSearch {
  /// The least time since the user was last active; inclusive.
  static let inactiveMin = Duration.seconds(3 * 86_400)
  /// The number of last messages that give the topic: the last one is often only a farewell.
  static let messagesMax = 3
  /// The most tokens of the topic.
  static let tokensMax = 50
  static let bytesPerToken = 3

  /// Without a topic it finds nothing, because the push would be generic. The domain is optional.
  static func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.conversations) { return .miss(.conversationSourceMissing) }
    if let miss = material.activityMiss(needed: inactiveMin) { return miss }
    guard let conversation = material.lastConversation else { return .miss(.noConversation) }
    let topic = topic(of: conversation.texts)
    if topic.isEmpty { return .miss(.noTopic) }
    return .hit(LayerFinding(.reengagement, domain: conversation.domain, topic: topic))
  }

  /// One line in reading order, with ` / ` between messages; empty when no message has a visible word.
  /// - Parameter texts: newest first. Newer texts get their words first.
  private static func topic(of texts: [String]) -> String {
    var budget = tokensMax
    var beginnings: [String] = []
    for text in texts where beginnings.count < messagesMax {
      // The separator costs one token.
      var remaining = beginnings.isEmpty ? budget : budget - 1
      guard remaining > 0 else { break }
      let beginning = beginning(of: text, budget: &remaining)
      if beginning.isEmpty { continue }
      beginnings.append(beginning)
      budget = remaining
    }
    return beginnings.reversed().joined(separator: " / ")
  }

  /// The words of one text within the budget. The number of scalars read is bounded by the budget too, so a text of
  /// megabytes costs no more than a short one.
  private static func beginning(of text: String, budget: inout Int) -> String {
    let line = text.line(scalarsMax: budget * (bytesPerToken + 1)) ?? ""
    var words: [String] = []
    for word in line.split(separator: " ") {
      let cost = (word.utf8.count + bytesPerToken - 1) / bytesPerToken
      guard cost <= budget else {
        if words.isEmpty { words = [String(word).beginning(bytesMax: budget * bytesPerToken)] }
        budget = 0
        break
      }
      budget -= cost
      words.append(String(word))
    }
    return words.joined(separator: " ")
  }
}
