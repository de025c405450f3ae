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
