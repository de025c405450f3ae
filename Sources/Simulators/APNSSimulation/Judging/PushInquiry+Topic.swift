extension PushInquiry {
  /// The longest topic taken, in bytes: a bundle identifier's 255 and room for the longest suffix.
  private static let topicBytesMax = 255 + 32

  /// Present, well formed, right for the push type, allowed for the credential.
  mutating func checkTopic(registry: SimulationRegistry) throws(Refusal) {
    push.topic = try topic()
    guard Self.isWellFormed(push.topic) else { throw .badRequest("BadTopic") }
    guard let bundle = bundle(registry: registry) else { throw .badRequest("TopicDisallowed") }
    self.bundle = bundle
    guard isAllowed(registry: registry) else { throw .badRequest("TopicDisallowed") }
  }

  /// A client certificate for one topic names it by itself.
  private func topic() throws(Refusal) -> String {
    if let topic = request.value(of: "apns-topic"), !topic.isEmpty { return topic }
    if case .topics(let topics) = request.certificate, topics.count == 1 { return topics[0] }
    throw .badRequest("MissingTopic")
  }

  private static func isWellFormed(_ topic: String) -> Bool {
    topic.utf8.count <= topicBytesMax
      && topic.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Without a push type the suffix tells it: an app's own identifier first, since nothing keeps it from ending in
  /// `.voip`.
  private func bundle(registry: SimulationRegistry) -> String? {
    if let type = push.pushType { return type.bundle(inTopic: push.topic) }
    let candidates = SimulatedPushType.allCases.compactMap { $0.bundle(inTopic: push.topic) }
    return candidates.first { registry.bundles[$0] != nil } ?? push.topic
  }

  private func isAllowed(registry: SimulationRegistry) -> Bool {
    if case .topics(let topics) = request.certificate { return topics.contains(push.topic) }
    guard let key else { return false }
    return registry.owns(key.team, bundle: bundle) && key.covers(topic: push.topic, bundle: bundle)
  }
}
