internal import PushRules
internal import PushStore

/// What stood in the way of a push, by the reason that the ledger keeps: APNs' words, and our own.
enum RefusalWords {
  /// What a reason means, as a clause; nil for one that is not known.
  static func meaning(of reason: String) -> String? {
    for words in [own, ofTokens, ofChannels, ofCredentials, ofRequests, ofService] {
      if let known = words[reason] { return known }
    }
    guard reason.hasPrefix("http_") else { return nil }
    return "APNs answered \(reason.dropFirst("http_".count)) without a reason"
  }

  static func described(_ reason: String, by service: String = "APNs") -> String {
    if service != "APNs", reason.hasPrefix("http_") {
      return "\(service) answered \(reason.dropFirst(5)) without a reason"
    }
    return meaning(of: reason).map { "\($0) (\(reason))" }
      ?? "\(service == "APNs" ? "APNs'" : "its") reason was \(reason)"
  }

  private static let own = [
    "apns_unreachable": "APNs could not be reached, and has certainly not seen the push",
    "apns_answer_lost": "the connection ended before APNs' answer, so APNs may have delivered the push",
    "app_not_configured": "the app of the device is not configured in the service",
    "UNREGISTERED": "the app is no longer on the Android phone, or has another token",
    "SENDER_ID_MISMATCH": "the token is another Firebase project's",
    "too_many_in_flight": "as many pushes to the push service were under way as may be",
    "host_unreachable": "the push service could not be reached",
    "answer_late": "the push service did not answer in time, so it may have delivered the push",
    "answer_lost": "the connection ended before the answer, so the push may have been delivered",
    "address_not_allowed": "the endpoint leads to a private address",
    "channel_not_configured": "the service's settings do not have the channel",
    "parked": "it was set aside after it failed too often",
    "replayed": "it was set aside before, and somebody has put it back",
    "unknown": "the route takes no pushes",
  ]

  private static let ofTokens = [
    "BadDeviceToken": "APNs does not know the device token, or it is of the other environment",
    "DeviceTokenNotForTopic": "the device token belongs to another app",
    "ExpiredToken": "the device token has expired",
    "Unregistered": "the app is no longer on the device, or was registered anew",
    "TooManyRequests": "too many pushes went to this device in a row",
  ]

  private static let ofChannels = [
    "BadChannelId": "APNs has never issued the channel, or not in this environment",
    "ChannelNotRegistered": "the channel has been deleted",
    "MissingChannelId": "the request had no channel",
    "MissingPushType": "the request had no push type",
    "MissingChannelQueueSize": "the request had no storage policy",
    "BadRequestParams": "a member of the request is not valid",
    "BadRequestPayload": "the request is not JSON",
    "CannotCreateChannelConfig": "the app has as many channels as it may have",
    "TopicMismatch": "the key is not for this app",
  ]

  private static let ofCredentials = [
    "TopicDisallowed": "the key may not push to this app",
    "BadCertificate": "the certificate is not valid",
    "BadCertificateEnvironment": "the certificate is for the other environment",
    "Forbidden": "APNs forbids it, which Apple does not explain further",
    "InvalidProviderToken": "APNs does not accept the provider token: key, key id or team do not fit together",
    "BadEnvironmentKeyIdInToken": "the key is for the other environment",
    "BadEnvironmentKeyInToken": "the key is for the other environment",
    "ExpiredProviderToken": "APNs takes the provider token for older than an hour: a clock is wrong",
    "UnrelatedKeyIdInToken": "the connection is bound to another key",
    "MissingProviderToken": "the request had no provider token",
    "TooManyProviderTokenUpdates": "the provider token was changed too often on the connection",
  ]

  private static let ofService = [
    "IdleTimeout": "the connection had been idle for too long",
    "Shutdown": "the server of APNs was shutting down",
    "InternalServerError": "APNs had a fault of its own",
    "ServiceUnavailable": "APNs was not available",
    "Service Unavailable": "APNs was not available",
  ]

  private static let ofRequests = [
    "BadCollapseId": "the collapse identifier is not valid",
    "BadExpirationDate": "the expiration is not valid",
    "BadMessageId": "the apns-id is not valid",
    "BadPriority": "the priority is not valid",
    "BadTopic": "the topic is not valid",
    "DuplicateHeaders": "a header field came twice",
    "InvalidPushType": "the push type is not valid",
    "MissingDeviceToken": "the request had no device token",
    "MissingTopic": "the request had no topic",
    "PayloadEmpty": "the payload is empty",
    "PayloadTooLarge": "the payload is too large",
    "BadPath": "the path is not valid",
    "MethodNotAllowed": "the method is not valid",
    "targetMalformed": "what the browser or the app has registered is not what its push service gives out",
    "deviceTokenMalformed": "the registered device token is none: it is not an even number of hexadecimal digits",
    "collapseIdentifierMalformed": "the collapse identifier is longer than 64 bytes, or empty",
    "bundleIdentifierMalformed": "the app that the device was registered with is no bundle identifier",
    "priorityNotAllowed": "the priority does not fit the push type",
    "pushTypeNotAllowed": "a channel takes Live Activities alone",
    "payloadEmpty": "there was nothing to say",
    "payloadTooLarge": "the push does not fit into what APNs takes",
    "customKeyReserved": "the custom data uses a name of APNs",
    "nothingToShow": "the push would show nothing",
    "valueEmpty": "a value of the payload is empty",
    "numberNotFinite": "a number of the payload is not finite",
    "fractionOutOfRange": "a fraction of the payload is not between 0 and 1",
    "channelIdentifierMalformed": "the channel's identifier is none: it is not base64",
    "dismissalTooLate": "the dismissal date is too late",
  ]
}

extension HistoryEntry.Attempt {
  /// Who was asked, as sentences name it.
  var service: String {
    if route?.hasPrefix("web_push/") == true { return "the push service" }
    return route?.hasPrefix("fcm/") == true ? "FCM" : "APNs"
  }
}

/// How much of the event's words a push had.
enum ContentWords {
  /// Follows "accepted the push".
  static func form(_ note: String) -> String {
    guard let known = ContentNote(rawValue: note) else { return "with content \(note)" }
    return switch known {
    case .sender: "with the sender's name alone"
    case .none: "without content"
    case .sealed: "sealed for the device"
    case .noKey: "without content, because the device has no key to seal it for"
    }
  }
}
