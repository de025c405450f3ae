internal import FoundationEssentials

/// The checks of broadcasts and channel management. Source: "Handling error responses from Apple Push Notification
/// service" (Apple).
extension PushInquiry {
  /// The app in the path: without a push type's suffix, covered by the credential, with the broadcast capability.
  mutating func checkApp(_ bundle: String, registry: SimulationRegistry) throws(Refusal) {
    self.bundle = bundle
    push.topic = bundle
    if registry.bundles[bundle] == nil, bundle.hasSuffix(SimulatedPushType.liveactivity.topicSuffix) {
      throw .badRequest("TopicDisallowed")
    }
    guard isCovered(registry: registry) else { throw .forbidden("TopicMismatch") }
    guard registry.hasBroadcasts(bundle) else { throw .badRequest("BroadcastFeatureNotEnabled") }
  }

  private func isCovered(registry: SimulationRegistry) -> Bool {
    if case .topics(let topics) = request.certificate { return topics.contains(bundle) }
    guard let key else { return false }
    return registry.owns(key.team, bundle: bundle) && key.covers(topic: bundle, bundle: bundle)
  }

  func checkRequestIdentifier() throws(Refusal) {
    guard let identifier = request.value(of: "apns-request-id") else { return }
    guard Self.isCanonicalIdentifier(identifier) else { throw .badRequest("BadMessageId") }
  }

  /// The channel's name: present, and base64.
  mutating func channelName() throws(Refusal) -> ChannelName {
    guard let identifier = request.value(of: "apns-channel-id"), !identifier.isEmpty else {
      throw .badRequest("MissingChannelId")
    }
    push.channel = identifier
    guard ChannelName.isIdentifier(identifier) else { throw .badRequest("BadChannelId") }
    return ChannelName(identifier, of: ChannelName.Owner(environment: environment, bundle: bundle))
  }

  /// The channel of the request, which exists.
  mutating func channel(
    registry: SimulationRegistry
  ) throws(Refusal) -> (name: ChannelName, channel: SimulatedChannel) {
    let name = try channelName()
    switch registry.channels.standing(of: name) {
    case .live(let channel): return (name, channel)
    case .deleted: throw .badRequest("ChannelNotRegistered")
    case .neverIssued: throw .badRequest("BadChannelId")
    }
  }
}

extension PushInquiry {
  /// The largest body of a broadcast, in bytes. Source: "Sending broadcast push notification requests to APNs" (Apple).
  private static let broadcastBytesMax = 5120

  /// The fields of a broadcast. Push type, priority and expiration are required.
  mutating func checkBroadcastFields(_ policy: SimulatedChannel.StoragePolicy) throws(Refusal) {
    guard let type = request.value(of: "apns-push-type") else { throw .badRequest("MissingPushType") }
    // Apple's pages spell it with capitals too.
    guard type.lowercased() == SimulatedPushType.liveactivity.rawValue else { throw .badRequest("InvalidPushType") }
    push.pushType = .liveactivity
    guard request.value(of: "apns-priority") != nil else { throw .badRequest("BadPriority") }
    try checkPriority()
    guard request.value(of: "apns-expiration") != nil else { throw .badRequest("BadExpirationDate") }
    try checkExpiration()
    if policy == .nothing, push.expirationSeconds != 0 { throw .badRequest("BadExpirationDate") }
  }

  mutating func checkBroadcastPayload() throws(Refusal) {
    guard request.bodyBytes > 0 else { throw .badRequest("PayloadEmpty") }
    guard request.bodyBytes <= Self.broadcastBytesMax else { throw .payloadTooLarge }
    guard let payload = try? JSONDecoder().decode(PayloadOutline.self, from: Data(request.body)) else {
      throw .badRequest("BadRequestPayload")
    }
    lint(payload)
    if payload.aps?.event == "start" { report(.broadcastStart) }
  }
}
