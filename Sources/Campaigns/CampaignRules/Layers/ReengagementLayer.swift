/// The layer for coming back after some days away.
public struct ReengagementLayer: Equatable, Sendable {
  /// The least time since the user was last active; inclusive. Default 3 days.
  public var inactiveMin: Duration
  /// How many of the conversation's last messages give the topic. Default 3: one is often only a farewell.
  public var topicMessagesMax: Int
  /// The most tokens the topic may cost, estimated from above. Default 50.
  public var topicTokensMax: Int

  /// A layer; the defaults are the product's.
  public init(inactiveMin: Duration = .seconds(259_200), topicMessagesMax: Int = 3, topicTokensMax: Int = 50) {
    self.inactiveMin = inactiveMin
    self.topicMessagesMax = topicMessagesMax
    self.topicTokensMax = topicTokensMax
  }

  /// The last conversation's topic. Without words to take up nothing is found, because whatever was written then could go
  /// to anybody; a domain is not needed.
  public func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.conversations) { return miss(.conversationSourceMissing) }
    if let note = InactivityGate(layer: .reengagement, needed: inactiveMin).note(for: material) { return .miss(note) }
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

/// What the last few messages of a conversation were about: their beginnings, bounded in a language model's tokens.
///
/// The tokens are estimated from above without the model's own dictionary: a word costs one token for every three bytes of
/// UTF-8 that it begins. English runs at four bytes a token or more, and a Chinese character (three bytes) at about one.
struct TopicPhrase {
  /// The bytes of a word that one token is taken to hold.
  static let bytesPerToken = 3

  /// One line, in reading order, messages parted by ` / `; empty when no message has a visible word.
  let text: String

  /// - Parameters:
  ///   - texts: newest first; the newest get their words first.
  ///   - messagesMax: how many messages with words are looked at.
  ///   - tokensMax: how many tokens all of them may cost together.
  init(of texts: [String], messagesMax: Int, tokensMax: Int) {
    var budget = tokensMax
    var beginnings: [String] = []
    for text in texts where beginnings.count < messagesMax {
      // What parts two messages is a token as well.
      var remaining = beginnings.isEmpty ? budget : budget - 1
      guard remaining > 0 else { break }
      let beginning = Self.beginning(of: text, budget: &remaining)
      if beginning.isEmpty { continue }
      beginnings.append(beginning)
      budget = remaining
    }
    text = beginnings.reversed().joined(separator: " / ")
  }

  /// The words of one text that the budget pays for. No more scalars are read than it could pay for as words of three
  /// bytes with a space each, so that a text of megabytes costs no more than a short one.
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
