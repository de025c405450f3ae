internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// A refusal in Google's envelope, `{"error":{"code","message","status","details":[…]}}`.
///
/// Source: google.rpc.Status and error_details.proto; the texts are those that senders report.
struct GoogleError: Error, Equatable {
  let http: Int
  /// `google.rpc.Code`, such as `NOT_FOUND`.
  let status: String
  let message: String
  var details: [GoogleDetail] = []
  var retryAfter: String?

  /// The `errorCode` of FCM, if there is one.
  var code: String? {
    details.lazy.compactMap { if case .fcm(let code) = $0 { code } else { nil } }.first
  }

  /// 400 of the interface, without a code of FCM.
  static func malformed(_ field: String, _ message: String) -> GoogleError {
    GoogleError(
      http: 400, status: "INVALID_ARGUMENT", message: message, details: [.badRequest(field, message)])
  }

  /// 400 of FCM.
  static func invalid(_ message: String, field: String? = nil) -> GoogleError {
    let violations = field.map { [GoogleDetail.badRequest($0, message)] } ?? []
    return GoogleError(
      http: 400, status: "INVALID_ARGUMENT", message: message, details: violations + [.fcm("INVALID_ARGUMENT")])
  }

  static let unregistered = GoogleError(
    http: 404, status: "NOT_FOUND", message: "Requested entity was not found.", details: [.fcm("UNREGISTERED")])

  static let unknownProject = GoogleError(
    http: 404, status: "NOT_FOUND", message: "Requested entity was not found.")

  static let senderMismatch = GoogleError(
    http: 403, status: "PERMISSION_DENIED", message: "SenderId mismatch", details: [.fcm("SENDER_ID_MISMATCH")])

  static let thirdParty = GoogleError(
    http: 401, status: "UNAUTHENTICATED", message: "Auth error from APNS or Web Push Service",
    details: [.fcm("THIRD_PARTY_AUTH_ERROR")])

  static let deviceRate = GoogleError(
    http: 429, status: "RESOURCE_EXHAUSTED", message: "Device message rate exceeded.", details: [.fcm("QUOTA_EXCEEDED")]
  )

  /// - Parameter hasBearer: whether the request has a bearer token; it is then unknown or has ended.
  static func unauthenticated(hasBearer: Bool) -> GoogleError {
    let start =
      hasBearer
      ? "Request had invalid authentication credentials."
      : "Request is missing required authentication credential."
    return GoogleError(
      http: 401, status: "UNAUTHENTICATED",
      message: "\(start) Expected OAuth 2 access token, login cookie or other valid authentication credential.",
      details: [.info(hasBearer ? "ACCESS_TOKEN_EXPIRED" : "CREDENTIALS_MISSING")])
  }

  static func denied(_ message: String, reason: String) -> GoogleError {
    GoogleError(http: 403, status: "PERMISSION_DENIED", message: message, details: [.info(reason)])
  }

  /// The project sends too much.
  /// - Parameter hasCode: whether the detail of FCM is there too.
  static func projectQuota(hasCode: Bool, retryAfter: String?) -> GoogleError {
    let info = GoogleDetail.info("RATE_LIMIT_EXCEEDED", ["quota_limit": "SendsPerMinutePerProject"])
    return GoogleError(
      http: 429, status: "RESOURCE_EXHAUSTED",
      message: "Quota exceeded for quota metric 'Messages sent' and limit 'Messages sent per minute'.",
      details: hasCode ? [.fcm("QUOTA_EXCEEDED"), info] : [info], retryAfter: retryAfter)
  }

  /// The answer.
  /// - Parameter isReversed: whether the details come in the opposite order.
  func response(isReversed: Bool = false) throws -> HTTPServerResponse {
    let content = Envelope(
      error: .init(
        code: http, message: message, status: status,
        details: details.isEmpty ? nil : isReversed ? details.reversed() : details))
    var fields: HTTPFields = [.contentType: "application/json; charset=UTF-8"]
    if let retryAfter { fields[.retryAfter] = retryAfter }
    return HTTPServerResponse(
      status: HTTPResponse.Status(code: http), fields: fields, body: try sortedJSON(content))
  }

  private struct Envelope: Encodable {
    struct Failure: Encodable {
      let code: Int
      let message: String
      let status: String
      let details: [GoogleDetail]?
    }

    let error: Failure
  }
}

enum GoogleDetail: Equatable, Encodable {
  /// `google.firebase.fcm.v1.FcmError`
  case fcm(String)
  /// `google.rpc.BadRequest` with one violation: a field and a description.
  case badRequest(String, String)
  /// `google.rpc.ErrorInfo`: a reason, and metadata.
  case info(String, [String: String] = [:])

  private enum CodingKeys: String, CodingKey {
    case type = "@type"
    case errorCode, fieldViolations, reason, domain, metadata
  }

  private struct Violation: Encodable {
    let field: String?
    let description: String
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .fcm(let code):
      try values.encode("type.googleapis.com/google.firebase.fcm.v1.FcmError", forKey: .type)
      try values.encode(code, forKey: .errorCode)
    case .badRequest(let field, let description):
      try values.encode("type.googleapis.com/google.rpc.BadRequest", forKey: .type)
      try values.encode(
        [Violation(field: field.isEmpty ? nil : field, description: description)], forKey: .fieldViolations)
    case .info(let reason, let metadata):
      try values.encode("type.googleapis.com/google.rpc.ErrorInfo", forKey: .type)
      try values.encode(reason, forKey: .reason)
      try values.encode("googleapis.com", forKey: .domain)
      try values.encode(metadata.merging(["service": "fcm.googleapis.com"]) { $1 }, forKey: .metadata)
    }
  }
}
