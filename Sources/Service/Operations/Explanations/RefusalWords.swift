internal import PushStore

/// What stood in the way of a push, by the reason that the ledger keeps: APNs' words, and our own.
enum RefusalWords {
  static func described(_ reason: String, by service: String = "APNs") -> String {
    if let meaning = meanings[reason] { return "\(meaning) (\(reason))" }
    guard reason.hasPrefix("http_") else { return "\(service == "APNs" ? "APNs'" : "its") reason was \(reason)" }
    let answered = "\(service) answered \(reason.dropFirst("http_".count)) without a reason"
    return service == "APNs" ? "\(answered) (\(reason))" : answered
  }

  /// A clause for each reason that is known.
  static let meanings = [
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

    // Of device tokens.
    "BadDeviceToken": "APNs does not know the device token, or it is of the other environment",
    "DeviceTokenNotForTopic": "the device token belongs to another app",
    "ExpiredToken": "the device token has expired",
    "Unregistered": "the app is no longer on the device, or was registered anew",
    "TooManyRequests": "too many pushes went to this device in a row",

    // Of credentials.
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

    // Of the service.
    "IdleTimeout": "the connection had been idle for too long",
    "Shutdown": "the server of APNs was shutting down",
    "InternalServerError": "APNs had a fault of its own",
    "ServiceUnavailable": "APNs was not available",
    "Service Unavailable": "APNs was not available",

    // Of requests, by APNs and before they are sent.
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
    "payloadEmpty": "there was nothing to say",
    "payloadTooLarge": "the push does not fit into what APNs takes",
    "customKeyReserved": "the custom data uses a name of APNs",
    "nothingToShow": "the push would show nothing",
    "numberNotFinite": "a number of the payload is not finite",
    "fractionOutOfRange": "a fraction of the payload is not between 0 and 1",
  ]
}

extension HistoryEntry.Attempt {
  /// Who was asked, as sentences name it.
  var service: String {
    if route?.hasPrefix("web_push/") == true { return "the push service" }
    return route?.hasPrefix("fcm/") == true ? "FCM" : "APNs"
  }

  var why: String { reason.map { RefusalWords.described($0, by: service) } ?? "no reason was given" }
}
