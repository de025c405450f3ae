internal import HTTPServing
internal import SimulationControl

/// The creation of a channel by a script, without a provider token.
struct ChannelDocument: ControlDocument {
  /// Nil for a made one.
  var identifier: String?
  var environment: SimulatedEnvironment
  var bundle: String
  var policy: SimulatedChannel.StoragePolicy

  enum CodingKeys: String, CodingKey, CaseIterable {
    case environment
    case identifier = "channel_id"
    case bundle = "bundle_id"
    case policy = "message_storage_policy"
  }

  var owner: ChannelName.Owner { ChannelName.Owner(environment: environment, bundle: bundle) }

  /// - Throws: `ProblemDetails` for an impossible identifier.
  func check() throws(ProblemDetails) {
    if let identifier, !ChannelName.isIdentifier(identifier) {
      throw ProblemDetails.unfit("channel_id is standard base64 of at most 256 characters")
    }
  }
}

/// Subscribers that join a channel.
struct SubscriptionDocument: ControlDocument {
  var identifier: String
  var environment: SimulatedEnvironment
  var bundle: String
  /// Nil for 1.
  var count: Int?
  var device: String?
  var attributesType: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case environment, count, device
    case identifier = "channel_id"
    case bundle = "bundle_id"
    case attributesType = "attributes_type"
  }

  var owner: ChannelName.Owner { ChannelName.Owner(environment: environment, bundle: bundle) }

  /// - Throws: `ProblemDetails` for an impossible number.
  func check() throws(ProblemDetails) {
    try ControlLimits.check("count", count, from: 1, to: ControlLimits.countMax)
  }
}

/// A channel in responses.
struct ChannelSummary: Encodable {
  let identifier: String
  let environment: SimulatedEnvironment
  let bundle: String
  let policy: SimulatedChannel.StoragePolicy
  let subscribers: Int
  let messages: Int
  /// Whether a message waits for later subscribers.
  let isStored: Bool

  private enum CodingKeys: String, CodingKey {
    case environment, subscribers, messages
    case identifier = "channel_id"
    case bundle = "bundle_id"
    case policy = "message_storage_policy"
    case isStored = "stored"
  }

  init(_ name: ChannelName, _ channel: SimulatedChannel, subscribers: Int, at now: WallInstant) {
    identifier = name.identifier
    environment = name.owner.environment
    bundle = name.owner.bundle
    policy = channel.policy
    self.subscribers = subscribers
    messages = channel.messages
    isStored = channel.message(at: now) != nil
  }
}

/// A new update token of an activity.
struct RenewalDocument: ControlDocument {
  /// Nil for a random one.
  var token: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token
  }
}
