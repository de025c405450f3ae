/// The push service that a subscription belongs to: its limits, and the form of its answers.
///
/// Sources: Apple, "Sending web push notifications in web apps and browsers"; Mozilla, autopush-rs, "HTTP endpoints" and "Error
/// codes"; Microsoft, "Push notification service request and response headers"; RFC 8030 and 8292 for what they leave open.
package enum PushServiceFace: String, Codable, CaseIterable, Sendable {
  /// Firefox.
  case mozilla
  /// Safari.
  case apple
  /// Chrome and its relatives.
  case fcm
  /// Edge.
  case wns

  var bodyBytesMax: Int { self == .wns ? 5000 : 4096 }

  /// Whether a push may be for browsers that are online alone.
  var acceptsTimeToLiveZero: Bool { self == .mozilla || self == .fcm }

  /// The largest number that `TTL` may be; larger ones are treated as this.
  var timeToLiveMax: Int64 { self == .fcm ? 2_419_200 : 2_592_000 }

  /// Apple decodes a topic as base64url, which never has these lengths.
  func acceptsTopic(ofLength length: Int) -> Bool { self != .apple || length % 4 != 1 }

  /// Whether a token needs `sub`, and one with a public domain.
  var judgesSubject: Bool { self == .apple }
}

extension PushServiceFace {
  /// 201, with the place of the message.
  func acceptance(_ identifier: String, origin: String, timeToLive: Int64) -> PushResponse {
    var response = PushResponse(status: 201, fields: ["location": "\(origin)/message/\(identifier)"])
    response.fields["ttl"] = "\(timeToLive)"
    if self == .apple { response.fields["apns-id"] = identifier }
    if self == .wns { response.fields["x-wns-status"] = "received" }
    return response
  }

  func answer(_ refusal: PushRefusal, identifier: String) -> PushResponse {
    switch self {
    case .mozilla: mozilla(refusal)
    case .apple: apple(refusal, identifier)
    case .fcm: fcm(refusal)
    case .wns: windows(refusal)
    }
  }

  private func mozilla(_ refusal: PushRefusal) -> PushResponse {
    let (status, number, message) =
      switch refusal {
      case .expired: (404, 102, "Request did not validate: invalid endpoint")
      case .gone: (410, 106, "Endpoint is no longer valid")
      case .bodyTooLarge: (413, 104, "This message is intended for a constrained device and is limited in size")
      case .timeToLiveMissing: (400, 111, "Missing TTL header")
      case .timeToLiveMalformed: (400, 112, "Invalid TTL header value")
      case .urgencyUnknown: (400, 999, "Invalid Urgency header value")
      case .topicMalformed: (400, 113, "Topic must be URL and filename safe base64 of at most 32 characters")
      case .encodingNotSupported: (400, 110, "Unknown Content-Encoding header")
      case .authorizationMissing, .authorizationMalformed, .keyMalformed, .tokenInvalid:
        (401, 109, "Request did not validate: invalid authorization")
      case .keyMismatch: (401, 109, "VAPID public key mismatch")
      }
    let words = Self.words[status] ?? "Error"
    return PushResponse(
      status: status, reason: "errno \(number)", fields: ["content-type": "application/json"],
      body: #"{"code":\#(status),"errno":\#(number),"error":"\#(words)","message":"\#(message)"}"#)
  }

  private static let words = [
    400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 410: "Gone", 413: "Payload Too Large",
  ]

  private func apple(_ refusal: PushRefusal, _ identifier: String) -> PushResponse {
    let (status, reason) =
      switch refusal {
      case .expired: (404, "BadPath")
      case .gone: (410, "Unregistered")
      case .bodyTooLarge: (413, "PayloadTooLarge")
      case .timeToLiveMissing, .timeToLiveMalformed: (400, "BadTtl")
      case .urgencyUnknown: (400, "BadUrgency")
      case .topicMalformed: (400, "BadWebPushTopic")
      case .encodingNotSupported: (400, "BadWebPushRequest")
      case .authorizationMissing, .authorizationMalformed: (403, "BadAuthorizationHeader")
      case .keyMalformed: (403, "BadVapidPublicKey")
      case .tokenInvalid: (403, "BadJwtToken")
      case .keyMismatch: (403, "VapidPkHashMismatch")
      }
    return PushResponse(
      status: status, reason: reason, fields: ["content-type": "application/json", "apns-id": identifier],
      body: #"{"reason":"\#(reason)"}"#)
  }

  private func fcm(_ refusal: PushRefusal) -> PushResponse {
    let (status, text) =
      switch refusal {
      case .expired, .gone: (410, "push subscription has unsubscribed or expired.")
      case .bodyTooLarge: (413, "Payload too large.")
      case .timeToLiveMissing, .timeToLiveMalformed: (400, "invalid TTL header.")
      case .urgencyUnknown: (400, "invalid Urgency header.")
      case .topicMalformed: (400, "invalid Topic header.")
      case .encodingNotSupported: (400, "invalid Content-Encoding header.")
      case .authorizationMissing: (401, "authorization header must be specified.")
      case .authorizationMalformed, .keyMalformed, .tokenInvalid:
        (403, "invalid JWT provided or invalid authorization header.")
      case .keyMismatch:
        (
          403,
          "the VAPID credentials in the authorization header do not correspond to the credentials used to create the "
            + "subscriptions."
        )
      }
    return PushResponse(status: status, reason: nil, fields: ["content-type": "text/plain; charset=utf-8"], body: text)
  }

  private func windows(_ refusal: PushRefusal) -> PushResponse {
    let (status, text) =
      switch refusal {
      case .expired: (404, "The channel URI is not valid")
      case .gone: (410, "The channel expired")
      case .bodyTooLarge: (413, "The payload exceeds 5000 bytes")
      case .timeToLiveMissing: (400, "Ttl is missing")
      case .timeToLiveMalformed: (400, "Ttl value conflicts with X-WNS-Cache-Policy")
      case .urgencyUnknown: (400, "Urgency is not valid")
      case .topicMalformed: (400, "Topic is not valid")
      case .encodingNotSupported: (400, "Content-Encoding is not valid")
      case .authorizationMissing, .authorizationMalformed, .keyMalformed, .tokenInvalid, .keyMismatch:
        (401, "The authorization is not valid")
      }
    return PushResponse(
      status: status, reason: text, fields: ["x-wns-status": "dropped", "x-wns-error-description": text])
  }
}
