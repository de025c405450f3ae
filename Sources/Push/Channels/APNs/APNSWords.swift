/// What APNs' reasons mean, and the ends of a connection without one.
package enum APNSWords {
  package static let reasons = [
    "apns_unreachable": "APNs could not be reached, and has certainly not seen the push",
    "apns_answer_lost": "the connection ended before APNs' answer, so APNs may have delivered the push",

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
  ]
}
