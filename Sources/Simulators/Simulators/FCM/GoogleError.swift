internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes

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
    let content: JSONMembers = [
      "error": [
        "code": http, "message": message, "status": status,
        "details": details.isEmpty ? nil : (isReversed ? details.reversed() : details).map(\.members),
      ] as JSONMembers
    ]
    var fields: HTTPFields = [.contentType: "application/json; charset=UTF-8"]
    if let retryAfter { fields[.retryAfter] = retryAfter }
    return HTTPServerResponse(
      status: HTTPResponse.Status(code: http), fields: fields, body: try sortedJSON(content))
  }
}

enum GoogleDetail: Equatable {
  /// `google.firebase.fcm.v1.FcmError`
  case fcm(String)
  /// `google.rpc.BadRequest` with one violation: a field and a description.
  case badRequest(String, String)
  /// `google.rpc.ErrorInfo`: a reason, and metadata.
  case info(String, [String: String] = [:])

  var members: JSONMembers {
    switch self {
    case .fcm(let code): ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code]
    case .badRequest(let field, let description):
      [
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [["field": field.isEmpty ? nil : field, "description": description] as JSONMembers],
      ]
    case .info(let reason, let metadata):
      [
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
        "metadata": metadata.merging(["service": "fcm.googleapis.com"]) { $1 },
      ]
    }
  }
}

/// The answer of the token endpoint.
enum ExchangeAnswer: Equatable {
  case token(email: String, scopes: Set<String>)
  /// Success without an access token: none of the scopes is known.
  case identity
  /// OAuth's error and its description.
  case refusal(String, String)
}

/// Judges a request for an access token as Google does.
///
/// Source: RFC 7523; the texts are those that clients report.
struct AssertionJudge {
  /// The scopes that allow to send.
  static let scopes: Set<String> = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]

  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// The longest life of an assertion, and how far its issue may be ahead, in seconds.
  private static let (lifetimeMax, aheadMax): (Int64, Int64) = (3600, 300)

  private static let untimely = """
    Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. \
    Check your iat and exp values in the JWT claim.
    """

  let accounts: [String: SimulatedAccount]
  let audiences: Set<String>
  /// Unix seconds.
  let now: Int64

  func judge(_ form: [String: String]) -> ExchangeAnswer {
    guard form["grant_type"] == Self.grantType else {
      return .refusal("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
    }
    let parts = (form["assertion"] ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.document(parts[0]), let claims = Self.document(parts[1]) else {
      return .refusal("invalid_request", "Bad Request")
    }
    guard let account = accounts[claims["iss"]?.text ?? ""] else {
      return .refusal("invalid_grant", "Invalid grant: account not found")
    }
    guard header["alg"]?.text == "RS256", header["kid"]?.text == account.keyIdentifier,
      let signature = Base64URL.decode(parts[2].utf8),
      account.key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { return .refusal("invalid_grant", "Invalid JWT Signature.") }
    return judge(claims, of: account)
  }

  private func judge(_ claims: JSONValue, of account: SimulatedAccount) -> ExchangeAnswer {
    guard audiences.contains(claims["aud"]?.text ?? "") else {
      return .refusal("invalid_grant", "Invalid JWT: Failed audience check.")
    }
    guard isTimely(claims) else { return .refusal("invalid_grant", Self.untimely) }
    let scopes = Set((claims["scope"]?.text ?? "").split(separator: " ").map(String.init))
    guard !scopes.isEmpty else { return .refusal("invalid_scope", "Empty or missing scope not allowed.") }
    let known = scopes.intersection(Self.scopes)
    return known.isEmpty ? .identity : .token(email: account.email, scopes: known)
  }

  private func isTimely(_ claims: JSONValue) -> Bool {
    // Far beyond every date, and small enough for every difference.
    let moments: Range<Int64> = 0..<1 << 40
    guard case .integer(let issued) = claims["iat"], case .integer(let end) = claims["exp"],
      moments.contains(issued), moments.contains(end)
    else { return false }
    return (1...Self.lifetimeMax).contains(end - issued) && issued <= now + Self.aheadMax && end > now
  }

  private static func document(_ part: Substring) -> JSONValue? {
    guard let bytes = Base64URL.decode(part.utf8), let document = JSONValue(bytes), case .object = document else {
      return nil
    }
    return document
  }
}

extension ExchangeAnswer {
  func response(token: String = "", expiresIn: Int = 0) throws -> HTTPServerResponse {
    switch self {
    case .token:
      try Self.response(.ok, ["access_token": token, "expires_in": expiresIn, "token_type": "Bearer"])
    case .identity: try Self.response(.ok, ["id_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"])
    case .refusal(let error, let text): try Self.response(.badRequest, ["error": error, "error_description": text])
    }
  }

  private static func response(_ status: HTTPResponse.Status, _ content: JSONMembers) throws -> HTTPServerResponse {
    HTTPServerResponse(status: status, json: try sortedJSON(content))
  }
}
