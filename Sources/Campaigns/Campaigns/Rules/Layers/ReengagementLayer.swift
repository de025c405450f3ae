struct ReengagementLayer: Equatable {
  /// The least time since the user was last active; inclusive. Default 3 days.
  var inactiveMin = Duration.seconds(259_200)
  /// The number of last messages that give the topic. Default 3: the last one is often only a farewell.
  var topicMessagesMax = 3
  /// The most tokens of the topic, by an upper estimate. Default 50.
  var topicTokensMax = 50

  /// The last conversation's topic. Without a topic it finds nothing, because the push would be generic. The domain is
  /// optional.
  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.conversations) { return miss(.conversationSourceMissing) }
    if let note = material.activityNote(for: .reengagement, needed: inactiveMin) { return .miss(note) }
    guard let conversation = material.lastConversation else { return miss(.noConversation) }
    let phrase = TopicPhrase(
      of: conversation.texts, messagesMax: topicMessagesMax, tokensMax: topicTokensMax)
    if phrase.text.isEmpty { return miss(.noTopic) }
    return .hit(
      LayerFinding(layer: .reengagement, domain: conversation.domain, subject: .conversation(topic: phrase.text)))
  }

  private func miss(_ rule: LayerRule) -> LayerOutcome {
    .miss(LayerNote(layer: .reengagement, rule: rule))
  }
}

/// The beginnings of a conversation's last messages, bounded in a language model's tokens.
///
/// The estimate is an upper bound without the model's dictionary: a word costs one token for every three bytes of UTF-8
/// that it begins. English has four bytes a token or more, and a Chinese character (three bytes) is about one token.
struct TopicPhrase {
  static let bytesPerToken = 3

  /// One line in reading order, with ` / ` between messages; empty when no message has a visible word.
  let text: String

  /// - Parameters:
  ///   - texts: newest first. Newer texts get their words first.
  ///   - messagesMax: the most messages with words.
  ///   - tokensMax: the most tokens of all messages together.
  init(of texts: [String], messagesMax: Int, tokensMax: Int) {
    var budget = tokensMax
    var beginnings: [String] = []
    for text in texts where beginnings.count < messagesMax {
      // The separator costs one token.
      var remaining = beginnings.isEmpty ? budget : budget - 1
      guard remaining > 0 else { break }
      let beginning = Self.beginning(of: text, budget: &remaining)
      if beginning.isEmpty { continue }
      beginnings.append(beginning)
      budget = remaining
    }
    text = beginnings.reversed().joined(separator: " / ")
  }

  /// The words of one text within the budget. The number of scalars read is bounded by the budget too, so a text of
  /// megabytes costs no more than a short one.
  private static func beginning(of text: String, budget: inout Int) -> String {
    let line = DataLine(text, scalarsMax: budget * (bytesPerToken + 1)).text
    var words: [Substring] = []
    for word in line.split(separator: " ") {
      let cost = (word.utf8.count + bytesPerToken - 1) / bytesPerToken
      guard cost <= budget else {
        if words.isEmpty { words = [cut(word, bytesMax: budget * bytesPerToken)] }
        budget = 0
        break
      }
      budget -= cost
      words.append(word)
    }
    return words.joined(separator: " ")
  }

  /// The whole clusters of a word that fit.
  private static func cut(_ word: Substring, bytesMax: Int) -> Substring {
    var bytes = 0
    return word.prefix { cluster in
      bytes += cluster.utf8.count
      return bytes <= bytesMax
    }
  }
}
