internal import Delivery

extension PushDisposition {
  /// The reasons that broadcasts and the management of channels add, or mean differently, and the forms seen on the wire.
  /// Source: "Handling error responses from Apple Push Notification service" (Apple).
  static let broadcastRows: [PushReason: Row] = [
    // The channel is gone, or was never issued. Its devices are not at fault.
    "BadChannelId": Row(400, .dropToken(invalidSinceMilliseconds: nil)),
    "ChannelNotRegistered": Row(400, .dropToken(invalidSinceMilliseconds: nil)),

    // The request is wrong and stays wrong.
    "BadRequestParams": Row(400, .fixRequest),
    "BadRequestPayload": Row(400, .fixRequest),
    "MissingChannelId": Row(400, .fixRequest),
    "MissingPushType": Row(400, .fixRequest),
    // The storage policy is missing or unknown.
    "MissingChannelQueueSize": Row(400, .fixRequest),
    // The bundle identifier of the path has the suffix of a push type. Where the credential is at fault, the reason is
    // another.
    "TopicDisallowed": Row(400, .fixRequest),

    // The app has no capability for broadcasts. Documented under the first name, sent under the second.
    "FeatureNotEnabled": Row(400, .fixCredentials),
    "BroadcastFeatureNotEnabled": Row(400, .fixCredentials),
    // The credential is not for the bundle identifier of the path.
    "TopicMismatch": Row(403, .fixCredentials),

    // The app has as many channels as it may have: one must be deleted first.
    "CannotCreateChannelConfig": Row(400, .retryLater(minimumWait: tooManyWait)),
  ]
}
